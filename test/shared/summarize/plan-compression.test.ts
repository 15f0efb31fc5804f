// The plan of a compression, made from an outline and counts alone.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HighDensityStrategy } from '../../../src/main/strategies/high-density.js';
import { compressionTarget } from '../../../src/main/strategies/strategy.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import type { HistoryOutline } from '../../../src/shared/summarize/history-outline.js';
import { findTailStart } from '../../../src/shared/summarize/plan-compression.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { chooseDrops } from '../../../src/shared/summarize/truncation.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';
import { arbitraryBrokenHistory } from '../../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { compressionContext, tokensOf } from '../../support/compression-context.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

/** A history whose last fifth, at least one entry, is kept. */
function planOf(notation: string): {
  readonly outline: HistoryOutline;
  readonly tailStart: number;
} {
  const { outline } = outlineHistory(historyOf(notation));
  return { outline, tailStart: findTailStart(outline, 0.2) };
}

describe('a compression by high-density', () => {
  it.each([
    ['in front of the tail', 'h a:r1 t:r1 a h', 4],
    ['in front of the calls that the tail answers', 'h a h a:r1 t:r1', 3],
    ['nowhere when the tail is everything', 'a:r1 t:r1', 0],
    ['nowhere in an empty history', '', 0],
  ])('summarizes %s', (_, notation, tailStart) => {
    expect(planOf(notation).tailStart).toBe(tailStart);
  });

  it.each([
    ['nothing when summaries reach the target', 50, []],
    ['the oldest calls with their responses when they do not', 49, [1, 2]],
    ['nothing of the tail, and not the last question', 0, [1, 2, 3]],
  ])('drops %s', (_, targetTokens, drops) => {
    const tokens = Uint16Array.of(10, 10, 10, 10, 10);
    const plan = planOf('h a:r1 t:r1 a a');
    expect(chooseDrops({ ...plan, tokens }, targetTokens)).toEqual(drops);
  });

  it.each([
    ['valid', arbitraryHistory()],
    ['broken', arbitraryBrokenHistory()],
  ])(
    'plans from a copy of the outline the same as the strategy does, on %s histories',
    async (_, histories) => {
      await fc.assert(
        fc.asyncProperty(histories, arbitraryRatio(0, 3), async (history, share) => {
          const contextLimit = Math.ceil(tokensOf(history) * share);
          const context = compressionContext(history, { contextLimit });
          const { newHistory } = await new HighDensityStrategy().compress(context);

          const { outline, callOf } = outlineHistory(history);
          const copy = structuredClone(outline);
          const tailStart = findTailStart(copy, 0.2);
          const summarized = history.map((entry, at) =>
            at < tailStart ? summarizeEntry(entry, at, callOf) : entry,
          );
          const tokens = Int32Array.from(summarized, estimateEntryTokens);
          const targetTokens = compressionTarget(context.runtimeContext.ephemerals);
          const drops =
            tailStart === 0 ? [] : chooseDrops({ outline: copy, tokens, tailStart }, targetTokens);
          expect(summarized.filter((__, at) => !drops.includes(at))).toEqual(newHistory);
        }),
        { numRuns: runs(300) },
      );
    },
  );
});
