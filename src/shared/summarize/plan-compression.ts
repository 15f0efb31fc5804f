// What a compression by high-density does to a history, decided without its payloads: the same where
// the entries are and where only columns of them are kept. Makes no summaries and counts nothing.

import type { HistoryOutline } from './history-outline.js';
import { chooseDrops } from './truncation.js';
import { NONE } from '../density/index/history-columns.js';
import { withResult } from '../content.js';
import type { IContent } from '../content.js';
import type { PlannedCompression } from '../resident-protocol.js';

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

/** A compressed history, and what is known of its new entries. */
export interface CarriedOutCompression {
  readonly newHistory: IContent[];
  /** Tokens of each entry that was not in the history before. */
  readonly knownTokens: ReadonlyMap<IContent, number>;
}

/** Carries a plan out on the history that it was made for. */
export function carryOutCompression(
  { drops, summarized, lines, tokensAfter }: PlannedCompression,
  history: readonly IContent[],
): CarriedOutCompression {
  const newHistory: IContent[] = [];
  const knownTokens = new Map<IContent, number>();
  let drop = 0;
  let line = 0;
  let edited = 0;
  for (const [index, entry] of history.entries()) {
    if (drops[drop] === index) {
      drop += 1;
      continue;
    }
    if (summarized[2 * line] !== index) {
      newHistory.push(entry);
      continue;
    }
    const blocks = entry.blocks.map((block, at) => {
      const isNamed = summarized[2 * line] === index && summarized[2 * line + 1] === at;
      const result = isNamed ? lines[line] : undefined;
      if (isNamed) line += 1;
      if (result === undefined || block.type !== 'tool_response') return block;
      return withResult(block, result);
    });
    const summary = { ...entry, blocks };
    newHistory.push(summary);
    if (tokensAfter[edited] === index) knownTokens.set(summary, tokensAfter[edited + 1] ?? 0);
    edited += 2;
  }
  if (2 * line === summarized.length && drop === drops.length) return { newHistory, knownTokens };
  throw new RangeError('The plan edits entries or blocks that the history does not have.');
}
