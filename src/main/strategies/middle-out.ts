// Summarizes the middle and keeps both ends: how the work began, and where it stands.

import { replaceWithSummary } from './replace-with-summary.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
  StrategyTrigger,
} from './strategy.js';

/** Implements the `middle-out` strategy. */
export class MiddleOutStrategy implements CompressionStrategy {
  readonly name = 'middle-out' as const;
  readonly requiresLLM = true;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  /**
   * Keeps the top share of `topPreserveThreshold` and the bottom share of `preserveThreshold`, and replaces what is between by
   * a note with the model's summary and an acknowledgement. Both boundaries are moved so that no call is split from its
   * response. The user's last request is kept verbatim.
   *
   * @throws see `replaceWithSummary`.
   */
  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { ephemerals } = context.runtimeContext;
    return replaceWithSummary(this.name, context, ephemerals.topPreserveThreshold());
  }
}
