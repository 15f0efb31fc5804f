// Summarizes the middle and keeps both ends: how the work began, and where it stands.

import { findTailStart, moveBeforePairs } from '../../shared/summarize/tail-boundary.js';
import { pairTools } from '../../shared/tool-pairs.js';
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
    const { pairs } = pairTools(history);
    const tailStart = findTailStart(history.length, ephemerals.preserveThreshold(), pairs);
    const topLength = Math.ceil(history.length * ephemerals.topPreserveThreshold());
    const start = moveBeforePairs(Math.min(topLength, tailStart), pairs);
    return replaceWithSummary(this.name, context, summarySpan(history, start, tailStart));
  }
}
