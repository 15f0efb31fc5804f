// The last resort when a history does not fit the context window: chooses what to shorten and what
// to drop so that it does, however full it is, without a model.

import { groupToolEntries } from './entry-groups.js';
import { ENTRY_FLAG } from './history-outline.js';
import type { HistoryOutline } from './history-outline.js';
import { instructionsLast, newestAskedOrTold } from './truncation.js';

/** A history with what is known about its entries. */
export interface Fittable {
  readonly outline: HistoryOutline;
  /** Tokens of each entry. */
  readonly tokens: ArrayLike<number>;
  /** Tokens that each entry would have with its tool results summarized; those of `tokens` where there are none. */
  readonly summarizedTokens: ArrayLike<number>;
}

/** What to do about it. */
export interface WindowFit {
  /** Entries whose tool results to summarize, ascending. */
  readonly summarized: readonly number[];
  /** Entries to drop, ascending; none of them is in `summarized`. */
  readonly dropped: readonly number[];
  /** Tokens that are left then. May still be over the limit: what remains cannot go. */
  readonly tokens: number;
}

/**
 * Chooses edits that leave at most `limitTokens`: first the largest tool results are summarized,
 * wherever they stand; then the oldest turns are dropped, each whole; then the oldest calls of the
 * present turn with all that answers them, and last the instructions that the history opens with.
 * The newest human entry and calls without a response stay.
 * Takes time linear in entries, but for one sort by size.
 */
export function fitToWindow(input: Fittable, limitTokens: number): WindowFit {
  const current = new Float64Array(input.tokens);
  let total = current.reduce((sum, tokens) => sum + tokens, 0);
  const summarized = new Set<number>();
  for (const entry of bySavings(input)) {
    if (total <= limitTokens) break;
    summarized.add(entry);
    const after = input.summarizedTokens[entry] ?? 0;
    total -= (current[entry] ?? 0) - after;
    current[entry] = after;
  }
  const dropped: number[] = [];
  for (const unit of droppableUnits(input)) {
    if (total <= limitTokens) break;
    for (const entry of unit) {
      dropped.push(entry);
      summarized.delete(entry);
      total -= current[entry] ?? 0;
    }
  }
  return { summarized: ascending(summarized), dropped: ascending(dropped), tokens: total };
}

/** Entries that a summary makes smaller, the one that saves most first. */
function bySavings({ tokens, summarizedTokens }: Fittable): readonly number[] {
  const saved = new Float64Array(tokens).map(
    (before, entry) => before - (summarizedTokens[entry] ?? before),
  );
  const smaller: number[] = [];
  saved.forEach((savings, entry) => {
    if (savings > 0) smaller.push(entry);
  });
  return smaller.sort((a, b) => (saved[b] ?? 0) - (saved[a] ?? 0) || a - b);
}

/**
 * What can leave, oldest first: turns before the newest human entry, then groups behind it; last of
 * all the instructions that the history opens with. A turn that holds a call without a response
 * gives up what does not belong to that.
 */
function droppableUnits({ outline }: Fittable): readonly (readonly number[])[] {
  const groups = groupToolEntries(outline);
  const asked = newestAskedOrTold(outline);
  if (asked !== -1) groups.pin(asked);
  let turn = -1;
  for (let entry = 0; entry < asked; entry += 1) {
    if (((outline.flags[entry] ?? 0) & ENTRY_FLAG.human) !== 0) turn = entry;
    if (turn === -1) continue;
    // Groups that have to stay are left out of the turn instead of keeping all of it.
    const isPinned = [turn, entry].some((member) => groups.isPinned(groups.find(member)));
    if (!isPinned) groups.join(turn, entry);
  }
  return instructionsLast(outline, groups.units());
}

function ascending(entries: Iterable<number>): readonly number[] {
  return [...entries].sort((a, b) => a - b);
}
