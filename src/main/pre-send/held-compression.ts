// What is told of a compression that was due and did not run.

import type { HoldReason } from './progress-guard.js';
import type { CompressedEvent } from './session-events.js';
import { currentStrategy } from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** The event of a compression that was held back: the history is as it was. */
export function heldCompression(parts: SessionParts, reason: HoldReason): CompressedEvent {
  const tokens = parts.history.getTotalTokens();
  const entries = parts.history.length;
  return {
    strategy: currentStrategy(parts).name,
    outcome: 'held',
    reason,
    llmCallMade: false,
    tokensBefore: tokens,
    tokensAfter: tokens,
    entriesBefore: entries,
    entriesAfter: entries,
  };
}
