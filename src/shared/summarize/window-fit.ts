// The last resort when a history does not fit the context window: chooses what to shorten and what
// to drop so that it does, however full it is, without a model.

import type { IContent } from '../content.js';
import { groupToolEntries } from './entry-groups.js';
import { instructionsLast, newestAsked } from './truncation.js';

/** A history with what is known about its entries. */
export interface Fittable {
  readonly history: readonly IContent[];
  /** Tokens of each entry. */
  readonly tokens: readonly number[];
  /** Tokens that each entry would have with its tool results summarized; those of `tokens` where there are none. */
  readonly summarizedTokens: readonly number[];
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
  const current = input.tokens.slice();
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
  const saved = tokens.map((before, entry) => before - (summarizedTokens[entry] ?? before));
  return saved
    .flatMap((savings, entry) => (savings > 0 ? [entry] : []))
    .sort((a, b) => (saved[b] ?? 0) - (saved[a] ?? 0) || a - b);
}

/**
 * What can leave, oldest first: turns before the newest human entry, then groups behind it; last of
 * all the instructions that the history opens with. A turn that holds a call without a response
 * gives up what does not belong to that.
 */
function droppableUnits({ history }: Fittable): readonly (readonly number[])[] {
  const groups = groupToolEntries(history);
  const asked = newestAsked(history);
  if (asked !== -1) groups.pin(asked);
  let turn = -1;
  for (let entry = 0; entry < asked; entry += 1) {
    if (history[entry]?.speaker === 'human') turn = entry;
    if (turn === -1) continue;
    // Groups that have to stay are left out of the turn instead of keeping all of it.
    const isPinned = [turn, entry].some((member) => groups.isPinned(groups.find(member)));
    if (!isPinned) groups.join(turn, entry);
  }
  return instructionsLast(history, groups.units());
}

function ascending(entries: Iterable<number>): readonly number[] {
  return [...entries].sort((a, b) => a - b);
}
