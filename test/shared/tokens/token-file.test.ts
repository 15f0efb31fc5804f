// The token file: what was written is read, and nothing else is accepted.

import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, test } from 'vitest';
import { O200K_TOKENS } from '../../../src/shared/tokens/o200k-data.js';
import { decodeTokenFile } from '../../../src/shared/tokens/token-file.js';
import type { TokenArrays } from '../../../src/shared/tokens/token-table.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';
import { encodeTokenFile } from '../../../scripts/token-file.js';

/** Position in the header of the number of ranks. */
const RANKS_AT = 4;

const anyToken = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => [...bytes]),
  fc.constant(undefined),
);
const anyTokens = fc.uniqueArray(anyToken, { selector: String, maxLength: 300, size: 'max' });

function decode(file: Uint8Array): TokenArrays {
  return decodeInSlices(file).tokens;
}

function decodeInSlices(file: Uint8Array): {
  readonly tokens: TokenArrays;
  readonly slices: number;
} {
  const decoding = decodeTokenFile(file);
  for (let slices = 1; ; slices += 1) {
    const next = decoding.next();
    if (next.done === true) return { tokens: next.value, slices };
  }
}

describe('decodeTokenFile', () => {
  test('reads what was written, wherever in memory the file is', () => {
    fc.assert(
      fc.property(anyTokens, fc.nat(9), (list, offset) => {
        const arranged = arrangeTokens(list);
        const file = encodeTokenFile(list);
        const moved = Buffer.alloc(offset + file.length).subarray(offset);
        moved.set(file);
        const read = decode(moved);
        moved.fill(0xff);
        expect(read).toEqual(arranged);
      }),
    );
  });

  test('reads the tokens of o200k from the built module, in slices', async () => {
    const file = await promisify(brotliDecompress)(Buffer.from(O200K_TOKENS, 'base64'));
    // Compared as bytes: comparing arrays of this length takes seconds.
    const {
      tokens: { bytes, slots, maxLength },
      slices,
    } = decodeInSlices(file);
    const expected = arrangeTokens(tokens);
    expect(Buffer.compare(bytes, expected.bytes)).toBe(0);
    expect(Buffer.compare(bytesOf(slots), bytesOf(expected.slots))).toBe(0);
    expect(maxLength).toBe(expected.maxLength);
    expect(slices).toBeGreaterThan(10);
  });

  test('refuses a file that is truncated or too long, at any length', () => {
    const file = encodeTokenFile(['a', undefined, 'bc', [0xff]]);
    for (let length = 0; length < file.length; length += 1) {
      expect(() => decode(file.subarray(0, length))).toThrow(RangeError);
    }
    expect(() => decode(Buffer.concat([file, file]))).toThrow(
      /^Expected a token file of 4 tokens, got \d+\.$/,
    );
  });

  test('refuses a file of another kind, and one with another header', () => {
    const other = encodeTokenFile(['a']);
    other[0] = 0;
    expect(() => decode(other)).toThrow('of this version');
    for (const ranks of [0, 1, 2, 4, 255]) {
      const unsound = encodeTokenFile(['a', 'b', 'c']);
      unsound[RANKS_AT] = ranks;
      expect(() => decode(unsound)).toThrow('Expected a token file of');
    }
    const longest = encodeTokenFile(['a'.repeat(255)]);
    const longer = Buffer.concat([longest.subarray(0, -1), Buffer.of(0x61, 0xff)]);
    expect(() => decode(longer)).toThrow('Expected tokens of at most 255 bytes, got 256.');
    // Memory for four billion tokens would be allocated before the file is found to be short.
    const huge = encodeTokenFile(['a']);
    huge.fill(0xff, RANKS_AT, RANKS_AT + 4);
    expect(() => decode(huge)).toThrow('Expected a token file of 4294967295 tokens, got 1.');
  });
});

function bytesOf(array: Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
