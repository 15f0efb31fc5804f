// Byte pair merging, compared with the plain algorithm, with encodings and windows so small that windows often disagree.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSlices } from '../../../src/shared/slices.js';
import { BytePairMerger } from '../../../src/shared/tokens/byte-pair-merger.js';
import { TokenTable } from '../../../src/shared/tokens/token-table.js';
import { runs } from '../../support/scale.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

const LETTERS = ['a', 'b', 'c'];
const lettersOf = (maxLength: number, minLength = 0): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...LETTERS), { minLength, maxLength, size: 'max' })
    .map((letters) => letters.join(''));
const vocabulary = fc
  .uniqueArray(lettersOf(6, 2), { maxLength: 30, size: 'max' })
  .map((tokens) => [...LETTERS, ...tokens]);
/** Includes words of one part repeated, in which a window's end has an effect far away. */
const words = fc.oneof(
  lettersOf(120),
  fc
    .tuple(lettersOf(4, 1), fc.nat(40), lettersOf(3))
    .map(([part, times, end]) => part.repeat(times) + end),
);

/** tiktoken's `_byte_pair_merge`, plainly. */
function mergePlainly(word: string, tokens: readonly string[]): number {
  const parts = Array.from(word);
  for (;;) {
    let least = Infinity;
    let found = -1;
    for (let at = 0; at + 1 < parts.length; at += 1) {
      const rank = tokens.indexOf(`${parts[at]}${parts[at + 1]}`);
      if (rank >= 0 && rank < least) [least, found] = [rank, at];
    }
    if (found < 0) return parts.length;
    parts.splice(found, 2, `${parts[found]}${parts[found + 1]}`);
  }
}

describe('BytePairMerger', () => {
  test.each([8, 9, 13, 1024])('counts any word as plain merging does, by %i bytes', (window) => {
    fc.assert(
      fc.property(vocabulary, words, (tokens, word) => {
        const merger = new BytePairMerger(new TokenTable(arrangeTokens(tokens)), window);
        const bytes = Buffer.from(`--${word}--`);
        const count = mergePlainly(word, tokens);
        expect(merger.countTokens(bytes, 2, bytes.length - 2)).toBe(count);
        expect(runSlices(merger.countInSlices(bytes, 2, bytes.length - 2))).toBe(count);
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('yields within a long word', () => {
    const merger = new BytePairMerger(new TokenTable(arrangeTokens(['a', 'aa', 'aaaa'])));
    const slices = merger.countInSlices(Buffer.alloc(2 ** 17, 'a'), 0, 2 ** 17);
    let pauses = 0;
    for (let slice = slices.next(); slice.done !== true; slice = slices.next()) pauses += 1;
    expect(pauses).toBeGreaterThan(3);
  });
});
