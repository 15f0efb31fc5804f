import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commonPrefixLength,
  members,
  readElements,
  skipValue,
} from '../../../src/gateway/body/json-scan.js';
import type { ByteRange } from '../../../src/gateway/body/json-scan.js';
import { runs } from '../../support/scale.js';

const json = fc.json({ maxDepth: 4 });

describe('skipValue', () => {
  it('stops at the end of a value, whatever follows', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(',', ']', '}', ' ,1', '\n]'), (text, rest) => {
        const bytes = Buffer.from(text);
        expect(skipValue(Buffer.from(text + rest), 0)).toBe(bytes.length);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('terminates for any bytes, and throws only the error for invalid JSON', () => {
    const bytes = fc.array(fc.constantFrom(...Buffer.from('[]{}",:\\ 1a')), { maxLength: 60 });
    fc.assert(
      fc.property(bytes, (given) => {
        for (const read of [
          (of: Buffer) => skipValue(of, 0),
          (of: Buffer) => readElements(of, 0, []),
          (of: Buffer) => [...members(of, 0)],
        ]) {
          try {
            read(Buffer.from(given));
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        }
      }),
      { numRuns: runs(5_000) },
    );
  });
});

describe('readElements', () => {
  it('finds the elements that JSON.parse finds, from any position', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), fc.nat(6), (texts, known) => {
        const bytes = Buffer.from(`[ ${texts.join(' ,')}\n]`);
        const elements: ByteRange[] = [];
        expect(readElements(bytes, 0, elements)).toBe(bytes.length);
        expect(elements.map(({ start, end }) => bytes.toString('utf8', start, end))).toEqual(
          texts.map((text) => text.trim()),
        );
        const some = elements.slice(0, known);
        readElements(bytes, 0, some);
        expect(some).toEqual(elements);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('commonPrefixLength', () => {
  it('equals the result of a comparison byte by byte', () => {
    const bytes = fc.tuple(
      fc.constantFrom(0, 10, 65_530, 131_072),
      fc.uint8Array({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(bytes, bytes, fc.nat(3), (one, other, from) => {
        const [a, b] = [one, other].map(([length, rest]) =>
          Buffer.concat([Buffer.alloc(length, 7), rest]),
        );
        let expected = 0;
        while (
          from + expected < a!.length &&
          expected < b!.length &&
          a![from + expected] === b![expected]
        )
          expected += 1;
        expect(commonPrefixLength(a!, Math.min(from, a!.length), b!, 0)).toBe(expected);
      }),
      { numRuns: runs(300) },
    );
  });
});
