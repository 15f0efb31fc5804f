// Removes reasoning of a message if everything that it led to was removed: providers reject reasoning that nothing follows.

import type { PartEdits } from './message-format.js';

/** A part of a message that is sent. */
export interface SentPart {
  /** Its number in the edits. */
  readonly number: number;
  readonly isReasoning: boolean;
}

/**
 * Returns the edits and the removal of each reasoning with parts between it and the next reasoning that are all removed. Reasoning
 * without such parts is kept.
 */
export function withSpentReasoning(parts: readonly SentPart[], edits: PartEdits): PartEdits {
  const all = new Map(edits);
  let hasFollowing = false;
  let isKept = false;
  let isAfterReasoning = false;
  for (const { number, isReasoning } of parts.toReversed()) {
    // Adjacent reasoning parts share what follows them.
    if (!isReasoning && isAfterReasoning) hasFollowing = isKept = false;
    isAfterReasoning = isReasoning;
    if (!isReasoning) {
      hasFollowing = true;
      isKept ||= edits.get(number) !== null;
    } else if (hasFollowing && !isKept) all.set(number, null);
  }
  return all;
}
