// The default strategy: prunes before every send what later entries made stale, and over the
// threshold says old tool results in one line each. Deterministic, without a model.

import type { IContent } from '../../shared/content.js';
import { placeholderOf } from '../../shared/density.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { optimize } from '../../shared/density/plan/optimize.js';
import { carryOutCompression, planCompression } from '../../shared/summarize/plan-compression.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { summarizeEntry } from '../../shared/summarize/tool-summary.js';
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
   * with all that answers them first, then human ones. Linear in entries. Planned in a worker when
   * the history is resident there, with the same result.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, logger, runtimeContext } = context;
    const { ephemerals } = runtimeContext;
    const preserveThreshold = ephemerals.preserveThreshold();
    const targetTokens = compressionTarget(ephemerals);
    const placeholder = placeholderOf({ placeholder: ephemerals.densityPlaceholder?.() });
    const request = { preserveThreshold, targetTokens, placeholder };
    const planned = await context.planCompression?.(request);
    context.signal?.throwIfAborted();
    if (planned?.length === history.length) {
      const { newHistory, knownTokens } = carryOutCompression(planned, history);
      return { ...result(history, newHistory), knownTokens };
    }

    const { outline, callOf } = outlineHistory(history);
    const { tailStart, dropsFor } = planCompression(outline, preserveThreshold);
    if (tailStart === 0) return result(history, [...history]);

    logger.debug('compressing by high-density', {
      entries: history.length,
      tailStart,
      targetTokens,
    });
    const summarized = history.map((entry, index) =>
      index < tailStart ? summarizeEntry(entry, index, callOf, placeholder) : entry,
    );
    const tokens = await countEach(context, summarized);
    context.signal?.throwIfAborted();

    const dropped = new Set(dropsFor(tokens, targetTokens));
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
