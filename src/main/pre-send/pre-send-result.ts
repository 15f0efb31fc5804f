// What one pre-send window did, for whoever asked for it.

import type { TokenSource } from './context-gauge.js';
import type { CompressedEvent, FittedEvent, PrunedEvent } from './session-events.js';

/** What the pre-send window did. */
export interface PreSendResult {
  /** The density pass, or `null` when it found nothing or was not needed. */
  readonly pruned: PrunedEvent | null;
  /** The compression that was due, or `null`. */
  readonly compressed: CompressedEvent | null;
  /** The last resort, or `null` when the history fits without it. */
  readonly fitted: FittedEvent | null;
  /** Tokens of the history that can be sent now, as the session's tokenizer counts them. */
  readonly totalTokens: number;
  /** How these were found; `session.contextUsage()` has them in the model's own tokens. */
  readonly tokenSource: Exclude<TokenSource, 'reported'>;
}
