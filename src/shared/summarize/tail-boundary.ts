// Where the recent tail begins that a compression leaves alone.

import type { ToolPair } from '../tool-pairs.js';

/**
 * Returns the index of the tail's first entry: `ceil(length × preserveThreshold)` entries from the
 * end, at least one, and as many more as it takes that no call in front of it is answered in it.
 * 0 when the tail is the whole history.
 */
export function findTailStart(
  length: number,
  preserveThreshold: number,
  pairs: readonly ToolPair[],
): number {
  const tailLength = Math.max(1, Math.ceil(length * preserveThreshold));
  return moveBeforePairs(Math.max(0, length - tailLength), pairs);
}

/** Returns the nearest boundary at or before `boundary` that no call in front of it is answered behind. */
export function moveBeforePairs(boundary: number, pairs: readonly ToolPair[]): number {
  let start = boundary;
  // Calls come in the order of their entries: seen from the last one, a start that has moved before
  // a call can only be moved further by a call before that.
  for (let at = pairs.length - 1; at >= 0; at -= 1) {
    const pair = pairs[at];
    if (pair?.responseEntry === undefined) continue;
    if (pair.callEntry < start && pair.responseEntry >= start) start = pair.callEntry;
  }
  return start;
}
