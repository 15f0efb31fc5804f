// Summarizes everything in front of the recent tail at once.

import { replaceWithSummary } from './replace-with-summary.js';
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
    return replaceWithSummary(this.name, context, 0);
  }
}
