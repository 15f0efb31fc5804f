// Has the provider compact the history, in addition to the density pass. The oldest entries are replaced by an opaque item of the
// provider, and the reasoning behind it can stay valid. Knows no SDK: the function that makes the request is injected.

import type { IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { optimize } from '../../shared/density/plan/optimize.js';
import { CompressionExecutionError, SummaryRejectedError } from '../../shared/errors.js';
import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { findTailStart } from '../../shared/summarize/plan-compression.js';
import { providerEntry } from './provider-compaction.js';
import { compressionResult } from './strategy.js';
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

  /** The density pass of `high-density`. */
  optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
    return optimize(history, config);
  }

  /**
   * Has the provider compact everything in front of the bottom share of `preserveThreshold`, without splitting a call from its
   * response. The provider's answer takes the place of these entries unchanged.
   *
   * @throws CompressionExecutionError if no provider can be asked, the request failed, or the answer is no smaller than these
   *   entries; the signal's reason.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, runtimeContext, estimateTokens, compactByProvider, logger, signal } = context;
    if (compactByProvider === undefined) {
      throw new CompressionExecutionError(
        this.name,
        'nobody here can ask a provider to compact: it takes an adapter whose SDK can carry that. See the guide for which do.',
        { code: 'PROVIDER_COMPACTION_FAILED' },
      );
    }
    const { outline } = outlineHistory(history);
    const tailStart = findTailStart(outline, runtimeContext.ephemerals.preserveThreshold());
    if (tailStart === 0) return compressionResult(this.name, history, [...history]);
    logger.debug('asking the provider to compact', { entries: tailStart });
    const { length, items, keepsReasoning } = await compactByProvider({
      history,
      tailStart,
      signal,
    });
    signal?.throwIfAborted();
    const made = items.map(providerEntry);
    const replacedTokens = await estimateTokens(history.slice(0, length));
    // OpenAI keeps all messages of the user, so long ones can make this the usual case: another strategy has to compress them.
    if ((await estimateTokens(made)) >= replacedTokens) {
      const message = 'what the provider made is no smaller than what it was to replace.';
      throw new SummaryRejectedError(this.name, 'inflated', message);
    }
    const newHistory = [...made, ...history.slice(length)];
    const result = compressionResult(this.name, history, newHistory, {
      llmCallMade: true,
      topPreserved: 0,
      bottomPreserved: history.length - length,
      middleCompressed: length,
    });
    return { ...result, keepsReasoning };
  }
}
