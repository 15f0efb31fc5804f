// The memo of words: it returns only counts of the very same bytes, however many are added, and forgets.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WordMemo } from '../../../src/shared/tokens/byte-pair-counter.js';
import { runs } from '../../support/scale.js';

const word = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
/** Few hashes, so that words replace each other. */
const hash = fc.integer({ min: 0, max: 3 }).map((place) => place << 8);

describe('WordMemo', () => {
  test('returns the remembered count of the same bytes, or 0', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, hash, fc.integer({ min: 1, max: 99 }))), (notes) => {
        const memo = new WordMemo();
        const last = new Map<number, readonly [Buffer, number]>();
        for (const [bytes, key, count] of notes) {
          memo.remember(key, Buffer.concat([Buffer.of(7), bytes]), 1, bytes.length + 1, count);
          last.set(key, [bytes, count]);
        }
        for (const [bytes, key] of notes) {
          const [known, count] = last.get(key) ?? [Buffer.of(), 0];
          expect(memo.countOf(key, bytes, 0, bytes.length)).toBe(known.equals(bytes) ? count : 0);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('forgets everything once its bytes are used up, and goes on', () => {
    const memo = new WordMemo();
    const first = Buffer.from('first');
    memo.remember(0, first, 0, first.length, 3);
    const long = Buffer.alloc(2 ** 16, 'x');
    for (let place = 1; place <= 8; place += 1)
      memo.remember(place << 8, long, 0, long.length, place);
    expect(memo.countOf(0, first, 0, first.length)).toBe(0);
    expect(memo.countOf(1 << 8, long, 0, long.length)).toBe(0);
    expect(memo.countOf(8 << 8, long, 0, long.length)).toBe(8);
  });

  test('remembers no word that would take more than an eighth of its bytes', () => {
    const memo = new WordMemo();
    const huge = Buffer.alloc(2 ** 16 + 1, 'x');
    memo.remember(0, huge, 0, huge.length, 5);
    expect(memo.countOf(0, huge, 0, huge.length)).toBe(0);
  });
});
