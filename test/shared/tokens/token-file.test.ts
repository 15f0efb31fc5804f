// The file of tokens: that what was written is read, and that nothing else is taken for it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, test } from 'vitest';
import { decodeTokenFile, encodeTokenFile } from '../../../src/shared/tokens/token-file.js';
import { arrangeTokens } from '../../../src/shared/tokens/token-table.js';

const BUILT = join(import.meta.dirname, '../../../dist/shared/tokens/o200k.tokens');
/** Where the header says how many tokens there are and how many bytes they have, and what follows it. */
const TOKEN_COUNT_AT = 8;
const BYTE_COUNT_AT = 12;
const HEADER_BYTES = 16;

const anyToken = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => [...bytes]),
  fc.constant(undefined),
);
const anyTokens = fc.uniqueArray(anyToken, { selector: String, maxLength: 300, size: 'max' });

describe('decodeTokenFile', () => {
  test('reads what was written, wherever in memory the file stands', () => {
    fc.assert(
      fc.property(anyTokens, fc.nat(9), (list, offset) => {
        const arranged = arrangeTokens(list);
        const file = encodeTokenFile(arranged);
        const moved = Buffer.alloc(offset + file.length).subarray(offset);
        moved.set(file);
        const read = decodeTokenFile(moved);
        moved.fill(0xff);
        expect(read).toEqual(arranged);
      }),
    );
  });

  test('reads the tokens of o200k from the file of the build', () => {
    // Compared as bytes: an equality of arrays of this length takes seconds.
    const { bytes, starts, slots, maxLength } = decodeTokenFile(readFileSync(BUILT));
    const expected = arrangeTokens(tokens);
    expect(Buffer.compare(bytes, expected.bytes)).toBe(0);
    expect(Buffer.compare(bytesOf(starts), bytesOf(expected.starts))).toBe(0);
    expect(Buffer.compare(bytesOf(slots), bytesOf(expected.slots))).toBe(0);
    expect(maxLength).toBe(expected.maxLength);
  });

  test('refuses a file that is cut off or goes on, at any length', () => {
    const file = encodeTokenFile(arrangeTokens(['a', undefined, 'bc', [0xff]]));
    for (let length = 0; length < file.length; length += 1) {
      expect(() => decodeTokenFile(file.subarray(0, length))).toThrow(RangeError);
    }
    expect(() => decodeTokenFile(Buffer.concat([file, file]))).toThrow(
      `Expected a token file of ${file.length} bytes, got ${file.length * 2}.`,
    );
  });

  test('refuses a file of another kind, and one whose parts do not fit together', () => {
    const other = encodeTokenFile(arrangeTokens(['a']));
    other[0] = 0;
    expect(() => decodeTokenFile(other)).toThrow('of this version');
    const unsound = encodeTokenFile(arrangeTokens(['a', 'b', 'c']));
    // One byte of tokens less than their lengths say, and the file as short as that.
    unsound[BYTE_COUNT_AT] = 2;
    expect(() => decodeTokenFile(unsound.subarray(0, -1))).toThrow('do not fit together');
    const crowded = encodeTokenFile(arrangeTokens(['a', 'b', 'c']));
    crowded[HEADER_BYTES + 3 * 4] = 200;
    expect(() => decodeTokenFile(crowded)).toThrow('do not fit together');
    // Four tokens for one rank, which fill all of its slots: a search in them would not end.
    const full = new Uint8Array(HEADER_BYTES + 4 * 5 + 2);
    full.set(encodeTokenFile(arrangeTokens(['a'])).subarray(0, HEADER_BYTES));
    full[TOKEN_COUNT_AT] = 4;
    full[HEADER_BYTES + 4 * 5] = 1;
    expect(() => decodeTokenFile(full)).toThrow('do not fit together');
  });
});

describe('encodeTokenFile', () => {
  test('refuses a token that is too long for it', () => {
    expect(() => encodeTokenFile(arrangeTokens(['x'.repeat(255)]))).not.toThrow();
    expect(() => encodeTokenFile(arrangeTokens(['x'.repeat(256)]))).toThrow(
      'A token file holds a token of at most 255, got 256.',
    );
  });
});

function bytesOf(array: Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
