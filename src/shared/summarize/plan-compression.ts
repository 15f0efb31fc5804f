// What a compression by high-density does to a history, decided without its payloads: the same where
// the entries are and where only columns of them are kept. Makes no summaries and counts nothing.

import type { HistoryOutline } from './history-outline.js';
import { findTailStart } from './tail-boundary.js';
import { chooseDrops } from './truncation.js';

/** A compression that is planned up to what only tokens can tell. */
export interface CompressionPlan {
  /**
   * Index of the first entry that is left alone: in front of it, tool results become summaries. 0
   * when that is the whole history, and nothing is to be done.
   */
  readonly tailStart: number;
  /**
   * Returns the entries to drop besides, ascending; none when summaries reach the target. `tokens`
   * are those of each entry with the tool results in front of `tailStart` summarized. See
   * `chooseDrops` for the order in which entries go. Linear.
   */
  readonly dropsFor: (tokens: ArrayLike<number>, targetTokens: number) => readonly number[];
}

/** Plans a compression that leaves at least a share of `preserveThreshold` of the entries, from the end. */
export function planCompression(
  outline: HistoryOutline,
  preserveThreshold: number,
): CompressionPlan {
  const tailStart = findTailStart(outline, preserveThreshold);
  return {
    tailStart,
    dropsFor: (tokens, targetTokens) => chooseDrops({ outline, tokens, tailStart }, targetTokens),
  };
}
