// Summarizes everything in front of the recent tail at once.

import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { findTailStart } from '../../shared/summarize/plan-compression.js';
import { replaceWithSummary, summarySpan } from './replace-with-summary.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';

/** Implements the `one-shot` strategy. */
export class OneShotStrategy implements CompressionStrategy {
  readonly name = 'one-shot' as const;
  readonly requiresLLM = true;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  /**
   * Keeps the bottom share of `preserveThreshold` and replaces the rest by a note with the model's summary and an
   * acknowledgement. The user's last request is kept verbatim.
   *
   * @throws see `replaceWithSummary`.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, runtimeContext } = context;
    const { outline } = outlineHistory(history);
    const tailStart = findTailStart(outline, runtimeContext.ephemerals.preserveThreshold());
    const span = summarySpan(history, outline, 0, tailStart);
    return replaceWithSummary(this.name, context, span);
  }
}
