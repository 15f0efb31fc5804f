// Summarizes everything in front of the recent tail at once.

import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { findTailStart } from '../../shared/summarize/plan-compression.js';
import { replaceWithSummary } from './replace-with-summary.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';
import { summarySpan } from './summary-span.js';

/** Implements the `one-shot` strategy. */
export class OneShotStrategy implements CompressionStrategy {
  readonly name = 'one-shot' as const;
  readonly requiresLLM = true;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  /**
   * Keeps the bottom share of `preserveThreshold` and lets the model summarize the rest: a note and
   * an acknowledgement take its place. What the user asked last stays word for word.
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
