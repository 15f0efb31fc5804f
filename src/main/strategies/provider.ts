// Has the provider itself compact the history, behind the density pass: what stands in for the oldest entries then is the
// provider's own, opaque, and keeps the reasoning behind it valid. Knows no SDK: whoever makes the requests is handed in.

import { CompressionExecutionError } from '../../shared/errors.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { findTailStart } from '../../shared/summarize/plan-compression.js';
import { HighDensityStrategy } from './high-density.js';
import { providerEntry } from './provider-compaction.js';
import { unchanged } from './replace-with-summary.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';

/** Implements the `provider` strategy. */
export class ProviderStrategy implements CompressionStrategy {
  readonly name = 'provider' as const;
  readonly requiresLLM = true;
  readonly trigger: StrategyTrigger = { mode: 'continuous', defaultThreshold: 0.85 };
  /** The same pass as that of `high-density`, so that it runs wherever that does. */
  readonly optimize: HighDensityStrategy['optimize'] = Reflect.get(
    HighDensityStrategy.prototype,
    'optimize',
  );

  /**
   * Has the provider compact what stands before the bottom share of `preserveThreshold`, as far as no call is split from its
   * response. What it answers takes the place of that, byte for byte.
   *
   * @throws CompressionExecutionError where nobody can ask the provider, or the request failed; the signal's reason.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, runtimeContext, compactByProvider, logger, signal } = context;
    if (compactByProvider === undefined) {
      throw new CompressionExecutionError(
        this.name,
        'nobody here can ask a provider to compact: it takes an adapter whose SDK can carry that. See the guide for which do.',
        { code: 'PROVIDER_COMPACTION_FAILED' },
      );
    }
    const { outline } = outlineHistory(history);
    const tailStart = findTailStart(outline, runtimeContext.ephemerals.preserveThreshold());
    if (tailStart === 0) return unchanged(this.name, history);
    logger.debug('asking the provider to compact', { entries: tailStart });
    const { length, items, keepsReasoning } = await compactByProvider({
      history,
      tailStart,
      signal,
    });
    signal?.throwIfAborted();
    const newHistory = [...items.map(providerEntry), ...history.slice(length)];
    return {
      newHistory,
      keepsReasoning,
      metadata: {
        originalMessageCount: history.length,
        compressedMessageCount: newHistory.length,
        strategyUsed: this.name,
        llmCallMade: true,
        topPreserved: 0,
        bottomPreserved: history.length - length,
        middleCompressed: length,
      },
    };
  }
}
