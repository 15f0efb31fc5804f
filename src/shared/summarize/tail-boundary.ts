// Where the recent tail begins that a compression leaves alone.

import { NONE } from '../density/index/history-columns.js';
import type { HistoryOutline } from './history-outline.js';

/**
 * Returns the index of the tail's first entry: `ceil(length × preserveThreshold)` entries from the
 * end, at least one, and as many more as it takes that no call in front of it is answered in it.
 * 0 when the tail is the whole history.
 */
export function findTailStart(outline: HistoryOutline, preserveThreshold: number): number {
  const tailLength = Math.max(1, Math.ceil(outline.length * preserveThreshold));
  return moveBeforePairs(Math.max(0, outline.length - tailLength), outline);
}

/** Returns the nearest boundary at or before `boundary` that no call in front of it is answered behind. */
export function moveBeforePairs(
  boundary: number,
  { callEntries, responseEntries }: HistoryOutline,
): number {
  let start = boundary;
  // Calls come in the order of their entries: seen from the last one, a start that has moved before
  // a call can only be moved further by a call before that.
  for (let call = callEntries.length - 1; call >= 0; call -= 1) {
    const callEntry = callEntries[call] ?? NONE;
    // An open call has `NONE`, which is in front of every boundary.
    if (callEntry < start && (responseEntries[call] ?? NONE) >= start) start = callEntry;
  }
  return start;
}
