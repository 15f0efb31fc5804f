// Summarizes the middle and keeps both ends: how the work began, and where it stands.

import { outlineHistory } from '../../shared/summarize/history-outline.js';
import { findTailStart, moveBeforePairs } from '../../shared/summarize/plan-compression.js';
import { replaceWithSummary } from './replace-with-summary.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';
import { summarySpan } from './summary-span.js';

/** Implements the `middle-out` strategy. */
export class MiddleOutStrategy implements CompressionStrategy {
  readonly name = 'middle-out' as const;
  readonly requiresLLM = true;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  /**
   * Keeps the top share of `topPreserveThreshold` and the bottom share of `preserveThreshold`, and
   * lets the model summarize what is between: a note and an acknowledgement take its place. Both
   * shares end where no call is split from its response. What the user asked last stays word for word.
   *
   * @throws see `replaceWithSummary`.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, runtimeContext } = context;
    const { ephemerals } = runtimeContext;
    const { outline } = outlineHistory(history);
    const tailStart = findTailStart(outline, ephemerals.preserveThreshold());
    const topLength = Math.ceil(history.length * ephemerals.topPreserveThreshold());
    const start = moveBeforePairs(Math.min(topLength, tailStart), outline);
    const span = summarySpan(history, outline, start, tailStart);
    return replaceWithSummary(this.name, context, span);
  }
}
