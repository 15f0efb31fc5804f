// Drops the oldest entries until the rest is small enough. Deterministic, without a model.

import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { chooseOldest } from '../../shared/summarize/truncation.js';
import { compressionResult, compressionTarget, countEach } from './strategy.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';

/** Implements the `top-down-truncation` strategy. */
export class TopDownTruncationStrategy implements CompressionStrategy {
  readonly name = 'top-down-truncation' as const;
  readonly requiresLLM = false;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  /**
   * Drops entries of any kind, oldest first, until at most `threshold × contextLimit × 0.6` tokens are left. A call goes
   * together with its answers, a human entry with the replies to it. The user's last request and open calls stay, even if the
   * target is missed. Linear in entries.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, logger, runtimeContext } = context;
    const tokens = await countEach(context, history);
    context.signal?.throwIfAborted();
    const targetTokens = compressionTarget(runtimeContext.ephemerals);
    const { outline } = outlineHistory(history);
    const dropped = new Set(chooseOldest(outline, tokens, targetTokens));
    logger.debug('compressing by top-down-truncation', { dropped: dropped.size, targetTokens });
    const newHistory = history.filter((_, index) => !dropped.has(index));
    return compressionResult(this.name, history, newHistory);
  }
}
