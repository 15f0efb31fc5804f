// From where on an edit is worth the prompt cache that it costs.

import { describe, expect, it } from 'vitest';

import { worthwhileFrom } from '../../../src/main/preflight/edit-price.js';
import { humanText } from '../../../src/shared/content.js';

const HISTORY = Array.from({ length: 6 }, (_, at) => humanText(`entry ${at}`));

/** Removes these entries of 1,000 tokens each; all others have that many, too. */
function from(removals: readonly number[], sentEntries: number, tokens = 1_000): number {
  const metadata = { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 };
  return worthwhileFrom({
    result: { removals, replacements: new Map(), metadata },
    history: HISTORY,
    sentEntries,
    prices: { read: 0.1, write: 1.25 },
    countedTokens: (entry) => (HISTORY.indexOf(entry) < 5 ? tokens : 10 * tokens),
  });
}

describe('worthwhileFrom', () => {
  it('takes what nothing that was sent stands behind', () => {
    expect([from([5], 5), from([5], 6), from([3], 4)]).toEqual([5, 5, 3]);
  });

  it('waits while too much that was sent stands behind', () => {
    // 1,000 tokens for 40 calls at 0.1 are 4,000; to write 10,000 more at 1.15 more is 11,500.
    expect(from([4], 6)).toBe(Infinity);
    // What was not sent is written anyway.
    expect(from([4], 5)).toBe(4);
  });

  it('takes of several places the one that pays best', () => {
    expect(from([0, 4], 5)).toBe(0);
    expect(from([0, 5], 6)).toBe(5);
    expect(from([], 6)).toBe(Infinity);
  });
});
