// A compression by `high-density`: where its unchanged tail starts, and how a plan that a worker made without payloads is carried
// out on the entries.

import { continuesAnswer } from './history-outline.js';
import type { HistoryOutline } from './history-outline.js';
import { NONE } from '../density/index/history-columns.js';
import { withResult } from '../content.js';
import type { IContent } from '../content.js';
import type { PlannedCompression } from '../resident-protocol.js';

/**
 * Returns the index of the tail's first entry: `ceil(length × preserveThreshold)` entries from the end, at least one, and
 * more if needed so that the tail answers no call before it. 0 if the tail is the whole history.
 */
export function findTailStart(outline: HistoryOutline, preserveThreshold: number): number {
  const tailLength = Math.max(1, Math.ceil(outline.length * preserveThreshold));
  return moveBeforePairs(Math.max(0, outline.length - tailLength), outline);
}

/** Returns the nearest boundary at or before `boundary` that separates no call from its response, and nothing from its answer that only continues it. */
export function moveBeforePairs(boundary: number, outline: HistoryOutline): number {
  const { callEntries, responseEntries } = outline;
  let start = boundary;
  while (continuesAnswer(outline, start)) start -= 1;
  // Calls are in the order of their entries. So in one pass from the last call, a start that has moved before a call can be
  // moved again only by an earlier call.
  for (let call = callEntries.length - 1; call >= 0; call -= 1) {
    const callEntry = callEntries[call] ?? NONE;
    // An open call has `NONE`, which is before every boundary.
    if (callEntry < start && (responseEntries[call] ?? NONE) >= start) start = callEntry;
  }
  return start;
}

/** A compressed history. */
export interface CarriedOutCompression {
  readonly newHistory: IContent[];
  /** Tokens of each new entry. */
  readonly knownTokens: ReadonlyMap<IContent, number>;
}

/** Carries out a plan on the history that it was made for. @throws RangeError if the plan does not fit the history. */
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
