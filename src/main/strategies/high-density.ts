// The default strategy: before every send it prunes what later entries made stale; over the threshold it replaces old tool
// results by one line each. Deterministic, without a model.

import type { IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { optimize } from '../../shared/density/plan/optimize.js';
import { carryOutCompression, findTailStart } from '../../shared/summarize/plan-compression.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { summarizeEntry } from '../../shared/summarize/tool-summary.js';
import { chooseDrops } from '../../shared/summarize/truncation.js';
import { compressionResult, compressionTarget, countEach } from './strategy.js';
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

  /** Runs the density pass; see `optimize` there. */
  optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
    return optimize(history, config);
  }

  /**
   * Summarizes every tool response in front of the recent tail, except short ones with `keepsShortResults`. If that does not reach
   * the target of `threshold × contextLimit × 0.6` tokens, also drops the oldest entries of the head: first ai entries with
   * everything that answers them, then human ones. Linear in entries. If the history is resident in a worker, it is planned
   * there, with the same result.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, logger, runtimeContext } = context;
    const { ephemerals } = runtimeContext;
    const preserveThreshold = ephemerals.preserveThreshold();
    const targetTokens = compressionTarget(ephemerals);
    const placeholder = ephemerals.densityPlaceholder?.() ?? 'pointer';
    const keepsShort = context.keepsShortResults;
    const request = { preserveThreshold, targetTokens, placeholder, keepsShort };
    const planned = await context.planCompression?.(request);
    context.signal?.throwIfAborted();
    if (planned?.length === history.length) {
      const { newHistory, knownTokens } = carryOutCompression(planned, history);
      return { ...compressionResult(this.name, history, newHistory), knownTokens };
    }

    const { outline, callOf } = outlineHistory(history);
    const tailStart = findTailStart(outline, preserveThreshold);
    if (tailStart === 0) return compressionResult(this.name, history, [...history]);

    logger.debug('compressing by high-density', {
      entries: history.length,
      tailStart,
      targetTokens,
    });
    const summarized = history.map((entry, index) =>
      index < tailStart ? summarizeEntry(entry, index, callOf, placeholder, keepsShort) : entry,
    );
    const tokens = await countEach(context, summarized);
    context.signal?.throwIfAborted();

    const dropped = new Set(chooseDrops({ outline, tokens, tailStart }, targetTokens));
    if (dropped.size === 0) return compressionResult(this.name, history, summarized);
    logger.debug('summaries do not reach the target', { dropped: dropped.size, targetTokens });
    const newHistory = summarized.filter((_, index) => !dropped.has(index));
    return compressionResult(this.name, history, newHistory);
  }
}
