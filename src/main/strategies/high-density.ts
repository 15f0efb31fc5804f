// The default strategy: prunes before every send what later entries made stale, and over the
// threshold says old tool results in one line each. Deterministic, without a model.

import type { IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { optimize } from '../../shared/density/optimize.js';
import { summarizeEntry } from '../../shared/summarize/summarize-entry.js';
import { findTailStart } from '../../shared/summarize/tail-boundary.js';
import { chooseDrops } from '../../shared/summarize/truncation.js';
import { pairTools } from '../../shared/tool-pairs.js';
import { compressionTarget, countEach } from './strategy.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';

/** Implements the `high-density` strategy. */
export class HighDensityStrategy implements CompressionStrategy {
  readonly name = 'high-density' as const;
  readonly requiresLLM = false;
  readonly trigger: StrategyTrigger = { mode: 'continuous', defaultThreshold: 0.85 };

  /** See `optimize` of the density pass: this is the same function. */
  optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
    return optimize(history, config);
  }

  /**
   * Summarizes every tool response in front of the recent tail. When that does not reach the target
   * of `threshold × contextLimit × 0.6` tokens, drops oldest entries of the head as well: ai entries
   * with all that answers them first, then human ones. Linear in entries.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, logger, runtimeContext } = context;
    const { ephemerals } = runtimeContext;
    const tools = pairTools(history);
    const tailStart = findTailStart(history.length, ephemerals.preserveThreshold(), tools.pairs);
    if (tailStart === 0) return result(history, [...history]);

    const targetTokens = compressionTarget(ephemerals);
    logger.debug('compressing by high-density', {
      entries: history.length,
      tailStart,
      targetTokens,
    });
    const summarized = history.map((entry, index) =>
      index < tailStart ? summarizeEntry(entry, index, tools) : entry,
    );
    const tokens = await countEach(context, summarized);
    context.signal?.throwIfAborted();

    const dropped = new Set(chooseDrops({ history: summarized, tokens, tailStart }, targetTokens));
    if (dropped.size === 0) return result(history, summarized);
    logger.debug('summaries do not reach the target', { dropped: dropped.size, targetTokens });
    return result(
      history,
      summarized.filter((_, index) => !dropped.has(index)),
    );
  }
}

function result(history: readonly IContent[], newHistory: IContent[]): CompressionResult {
  return {
    newHistory,
    metadata: {
      originalMessageCount: history.length,
      compressedMessageCount: newHistory.length,
      strategyUsed: 'high-density',
      llmCallMade: false,
    },
  };
}
