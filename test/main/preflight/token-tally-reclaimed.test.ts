// What an edit reclaims, by what is known about it.

import { describe, expect, it } from 'vitest';

import { reclaimedTokens } from '../../../src/main/preflight/token-tally.js';
import type { IContent } from '../../../src/shared/content.js';
import { humanText } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';

const LONG = humanText('x'.repeat(400));
const SHORT = humanText('x'.repeat(100));
const [LONG_ESTIMATE, SHORT_ESTIMATE] = [LONG, SHORT].map(estimateEntryTokens) as [number, number];

function reclaimed(counts: readonly (readonly [IContent, number])[], after?: IContent): number {
  const known = new Map(counts);
  const edit =
    after === undefined ? { removals: [0] } : { replacements: new Map([[0, after] as const]) };
  return reclaimedTokens({ ...NO_EDITS, ...edit }, [LONG], (entry) => known.get(entry));
}

describe('reclaimedTokens', () => {
  it('uses counts where there are any', () => {
    expect(reclaimed([[LONG, 300]])).toBe(300);
    expect(
      reclaimed(
        [
          [LONG, 300],
          [SHORT, 20],
        ],
        SHORT,
      ),
    ).toBe(280);
  });

  it('assumes the same tokens per character for a replacement as for the original', () => {
    expect(reclaimed([[LONG, 3 * LONG_ESTIMATE]], SHORT)).toBe(
      3 * (LONG_ESTIMATE - SHORT_ESTIMATE),
    );
  });

  it('estimates what was not counted', () => {
    expect(reclaimed([])).toBe(LONG_ESTIMATE);
    expect(reclaimed([], SHORT)).toBe(LONG_ESTIMATE - SHORT_ESTIMATE);
  });
});
