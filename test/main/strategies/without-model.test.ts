// The strategies without a model: input that only a model uses changes nothing.

import { describe, expect, it } from 'vitest';

import { HighDensityStrategy } from '../../../src/main/strategies/high-density.js';
import { TopDownTruncationStrategy } from '../../../src/main/strategies/top-down-truncation.js';
import { compressionContext } from '../../support/compression-context.js';
import { historyOf } from '../../support/notation.js';
import { scriptedSummarizer } from '../../support/scripted-summarizer.js';

const NOTATION = 'h:1 a:r1 t:r1 h:2 a:w2 t:w2 a:3 h:4 a:5 h:6';

describe.each([new HighDensityStrategy(), new TopDownTruncationStrategy()])('$name', (strategy) => {
  it('asks no model, and ignores todos and a transcript', async () => {
    const history = historyOf(NOTATION);
    const summarizer = scriptedSummarizer('never');
    const plain = compressionContext(history, { contextLimit: 60 });
    const context = compressionContext(history, {
      contextLimit: 60,
      summarizer,
      activeTodos: [{ id: '1', content: 'explain me', status: 'in_progress' }],
      transcriptPath: '/tmp/transcript.jsonl',
    });
    const result = await strategy.compress(context);
    expect(result).toEqual(await strategy.compress(plain));
    expect(result.newHistory).not.toEqual(history);
    expect(result.metadata.llmCallMade).toBe(false);
    expect(summarizer.requests).toEqual([]);
  });
});
