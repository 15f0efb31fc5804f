// Drops entries from the top until the rest fits.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TopDownTruncationStrategy } from '../../../src/main/strategies/top-down-truncation.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { compressionContext, tokensOf } from '../../support/compression-context.js';
import { describeHistory, historyOf } from '../../support/notation.js';
import { scriptedSummarizer } from '../../support/scripted-summarizer.js';
import { runs } from '../../support/scale.js';

const strategy = new TopDownTruncationStrategy();

/** Truncates to at most `targetTokens`; each entry has 10. */
async function truncated(history: readonly IContent[], targetTokens: number): Promise<string> {
  const context = compressionContext(history, {
    ephemerals: { compressionThreshold: () => 1, contextLimit: () => targetTokens / 0.6 },
    countEach: (contents) => Promise.resolve(contents.map(() => 10)),
  });
  return describeHistory((await strategy.compress(context)).newHistory);
}

describe('TopDownTruncationStrategy', () => {
  it('runs at a threshold, without a model', () => {
    expect(strategy).toMatchObject({
      name: 'top-down-truncation',
      requiresLLM: false,
      trigger: { mode: 'threshold', defaultThreshold: 0.85 },
    });
    expect(strategy).not.toHaveProperty('optimize');
  });

  it.each([
    ['nothing while everything fits', 'h:1 a:2 h:3 a:4', 40, 'h:1 a:2 h:3 a:4'],
    ['the oldest entries of any kind', 'h:1 a:2 h:3 a:4', 20, 'h:3 a:4'],
    ['no more than necessary', 'h:1 h:2 a:3 h:4 a:5', 45, 'h:2 a:3 h:4 a:5'],
    ['the answers to a human entry with it', 'h:1 a:2 h:3 a:4', 35, 'h:3 a:4'],
    ['a call with its response', 'h:1 a:r1 t:r1 h:4 a:5', 30, 'h:4 a:5'],
    ['a call with its later response', 'a:r1 h:1 t:r1 h:2 a:3', 30, 'h:1 h:2 a:3'],
    ['parallel calls together', 'a:r1,r2 t:r1 t:r2 h:2 a:3', 40, 'h:2 a:3'],
    ['all but the last question, and its answer', 'h:1 a:2 h:3 a:4', 0, 'h:3 a:4'],
    [
      'no result that was not sent yet',
      'h:1 a:r1 t:r1 a:r2,r3 t:r2 t:r3',
      0,
      'h:1 a:r2,r3 t:r2 t:r3',
    ],
    ['no answer that was not sent yet', 'h:1 a:2', 0, 'h:1 a:2'],
    ['no unsent answer in front of the last question', 'h:1 a:2 h:3 a:4 h:5', 0, 'h:3 a:4 h:5'],
    ['summarized questions before it', 'h:1 h:2', 0, 'h:2'],
    ['all but open calls', 'h:1 a:2 a:r1,r2 t:r1', 0, 'h:1 a:r1,r2 t:r1'],
    ['no incomplete response', 'h:1 a:2 a:r1 t:r1?', 0, 'h:1 a:r1 t:r1?'],
    ['an incomplete response with its call', 'h:1 a:r1 t:r1? t:r1 a', 20, 'h:1 a'],
    ['nothing from an empty history', '', 0, ''],
  ])('drops %s', async (_, notation, targetTokens, rest) => {
    expect(await truncated(historyOf(notation), targetTokens)).toBe(rest);
  });

  it('may drop a summary, but not the question before it', async () => {
    const [asked, , ...rest] = historyOf('h:1 h:2 a:3 a:4');
    const history = [asked!, humanText('2', { isSummary: true }), ...rest];
    expect(await truncated(history, 20)).toBe('h:1 a:4');
  });

  it('ignores the task list and the summarizer', async () => {
    const summarizer = scriptedSummarizer('never');
    const context = compressionContext(historyOf('h a h a'), {
      contextLimit: 10,
      summarizer,
      activeTodos: [{ id: '1', content: 'do it', status: 'pending' }],
    });
    const { metadata, newHistory } = await strategy.compress(context);
    expect(summarizer.requests).toEqual([]);
    expect(JSON.stringify(newHistory)).not.toContain('do it');
    expect(metadata).toMatchObject({ strategyUsed: 'top-down-truncation', llmCallMade: false });
  });

  it('rejects with the reason of its signal', async () => {
    const context = compressionContext(historyOf('h a'), { signal: AbortSignal.abort('enough') });
    await expect(strategy.compress(context)).rejects.toBe('enough');
  });

  it('leaves a valid history of the same entries, at most as large', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryHistory(), fc.nat(2_000), async (history, contextLimit) => {
        const context = compressionContext(history, { contextLimit });
        const { newHistory, metadata } = await strategy.compress(context);
        expect(findViolations(newHistory, history)).toEqual([]);
        expect(newHistory.every((entry) => history.includes(entry))).toBe(true);
        expect(tokensOf(newHistory)).toBeLessThanOrEqual(tokensOf(history));
        expect(metadata.compressedMessageCount).toBe(newHistory.length);
        // Nothing is dropped without need: with the last group restored, it would not fit.
        if (tokensOf(history) <= contextLimit * 0.85 * 0.6) expect(newHistory).toEqual(history);
      }),
      { numRuns: runs(300) },
    );
  });
});
