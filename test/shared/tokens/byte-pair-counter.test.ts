// Exact counts of text: compared with tiktoken, on recordings and on texts that are hard to count, of any length.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../../../bench/support/hostile-texts.js';
import { BytePairCounter } from '../../../src/shared/tokens/byte-pair-counter.js';
import { arbitraryText } from '../../support/arbitrary-text.js';
import { referenceCount } from '../../support/reference-counter.js';
import { PLAYS_ALL, runs, sample } from '../../support/scale.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

const arranged = arrangeTokens(tokens);
const counter = new BytePairCounter(arranged);
const { count } = counter;

/** Units counted at a time, unless a word is longer. */
const CHUNK = 4096;
const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const recordings = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(jsonl?|traj)$/.test(name))
  .map((name) => [name, readFileSync(join(FIXTURES, name), 'utf8')] as const);

describe('BytePairCounter', () => {
  test.each(sample(recordings, 2))('counts %s as the reference does', (_name, text) => {
    expect(count(text)).toBe(referenceCount(text));
  });

  test('counts any text as the reference does', () => {
    fc.assert(
      fc.property(arbitraryText(60), (text) => {
        expect(count(text)).toBe(referenceCount(text));
      }),
      { numRuns: runs(40_000) },
    );
  });

  test('counts any text across the ends of chunks as the reference does', () => {
    fc.assert(
      fc.property(arbitraryText(60), fc.nat(120), (text, before) => {
        const filled = 'word '.repeat(CHUNK / 5 - 12).padEnd(CHUNK - before, '.') + text;
        expect(count(filled)).toBe(referenceCount(filled));
      }),
      { numRuns: runs(3_000) },
    );
  });

  test.each(Object.entries(HOSTILE_TEXTS))('counts %s as the reference does', (_name, make) => {
    for (const length of PLAYS_ALL ? [10, 3_000, CHUNK + 700] : [10, CHUNK + 700]) {
      const text = make(length);
      expect(count(text)).toBe(referenceCount(text));
    }
  });

  test('counts the same on repetition, from its memo or anew', () => {
    fc.assert(
      fc.property(fc.array(arbitraryText(20), { maxLength: 9 }), (texts) => {
        const own = new BytePairCounter(arranged);
        const first = texts.map(own.count);
        expect(texts.map(own.count)).toEqual(first);
        expect(texts.map(count)).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });

  test('counts every token as one if its text is one word', () => {
    // Except for bytes that are not text, and tokens that no text is split into.
    let ones = 0;
    for (let rank = 256; rank < tokens.length; rank += 97) {
      const text = tokens[rank];
      if (typeof text !== 'string' || referenceCount(text) !== 1) continue;
      expect(count(text)).toBe(1);
      ones += 1;
    }
    expect(ones).toBeGreaterThan(1_500);
  });

  test('counts byte order marks and next lines as the reference does', () => {
    expect([1, 2, 3, 4].map((length) => count('\ufeff'.repeat(length)))).toEqual([1, 1, 2, 2]);
    for (const text of ["it'ſ", '\ufeff\ufeff \ufeffa', 'a\u0085\u0085 b', 'x \u0085\n y']) {
      expect(count(text)).toBe(referenceCount(text));
    }
  });

  test('merges the pair with the lowest rank first, and the leftmost of equal ones', () => {
    const own = new BytePairCounter(arrangeTokens(['a', 'b', 'c', 'bc', 'ab', 'aa', 'aaa']));
    expect(own.count('abc')).toBe(2);
    expect(own.count('ab')).toBe(1);
    // aa|a, then aaa; aa|aa never becomes more.
    const counts = [1, 2, 3, 4, 5, 6].map((length) => own.count('a'.repeat(length)));
    expect(counts).toEqual([1, 1, 1, 2, 2, 3]);
  });

  test('yields within a long text and within a long word, and counts other texts meanwhile', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('word ', 'x', '漢', ' ', '今天天气很好，', '="'),
        fc.constantFrom('other ', 'y', '字', '\n', '=>'),
        (part, otherPart) => {
          const [text, other] = [part.repeat(200_000 / part.length), otherPart.repeat(9_000)];
          const [expected, expectedOther] = [count(text), count(other)];
          const own = new BytePairCounter(arranged);
          const slices = own.countInSlices(text);
          let turns = 0;
          for (let slice = slices.next(); ; slice = slices.next()) {
            if (slice.done === true) {
              expect(slice.value).toBe(expected);
              break;
            }
            turns += 1;
            if (turns < 4) expect(own.count(other)).toBe(expectedOther);
          }
          expect(turns).toBeGreaterThan(2);
        },
      ),
      { numRuns: runs(60, 2) },
    );
  });
});
