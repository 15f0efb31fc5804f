// Where the tail starts that a compression keeps.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { findTailStart } from '../../../src/shared/summarize/plan-compression.js';
import { arbitraryBrokenHistory } from '../../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { pairNaively } from '../../support/naive-pairs.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

function tailStartOf(notation: string, preserveThreshold: number): number {
  return findTailStart(outlineHistory(historyOf(notation)).outline, preserveThreshold);
}

describe('findTailStart', () => {
  it.each([
    ['nothing in an empty history', '', 0.2, 0],
    ['a share of the entries', 'h a h a h a h a h a', 0.2, 8],
    ['a share that is rounded up', 'h a h a h a', 0.2, 4],
    ['at least one entry', 'h a h a', 0, 3],
    ['all of it at a share of one', 'h a h a', 1, 0],
    ['all of a single entry', 'h', 0.2, 0],
    ['no response without its call', 'h a h a:r1 t:r1', 0.2, 3],
    ['no response without its call, far back', 'h a:r1 h a h t:r1 h', 0.3, 1],
    ['chains of calls that overlap', 'h a:r1 a:r2 t:r1 a:r3 t:r2 t:r3', 0.1, 1],
    ['an open call in front of it', 'h a:r1 h a', 0.5, 2],
    ['a response without a call', 'h a h t:r1', 0.2, 3],
  ])('preserves %s', (_, notation, preserveThreshold, start) => {
    expect(tailStartOf(notation, preserveThreshold)).toBe(start);
  });

  it.each([
    ['valid', arbitraryHistory()],
    ['broken', arbitraryBrokenHistory()],
  ])('splits no pair and moves no further than necessary, on %s histories', (_, histories) => {
    const shares = arbitraryRatio();
    fc.assert(
      fc.property(histories, shares, (history, share) => {
        const { length } = history;
        const pairs = pairNaively(history);
        const isSplitAt = (start: number): boolean =>
          pairs.some(({ callEntry, responseEntry }) => callEntry < start && responseEntry >= start);
        let expected = Math.max(0, length - Math.max(1, Math.ceil(length * share)));
        while (isSplitAt(expected)) expected -= 1;
        expect(findTailStart(outlineHistory(history).outline, share)).toBe(expected);
      }),
      { numRuns: runs(500) },
    );
  });
});
