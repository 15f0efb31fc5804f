// The last resort for a history that does not fit the context window: chooses results to summarize and entries to drop,
// without a model.

import { ENTRY_FLAG } from './history-outline.js';
import type { HistoryOutline } from './history-outline.js';
import {
  dropUnits,
  groupToolEntries,
  instructionsLast,
  newestUserEntryOrSummary,
  unsentStart,
} from './truncation.js';

/** A history, reduced to what the choice depends on. */
export interface Fittable {
  readonly outline: HistoryOutline;
  /** Tokens of each entry. */
  readonly tokens: ArrayLike<number>;
  /** Tokens of each entry with its tool results summarized; as in `tokens` if it has none. */
  readonly summarizedTokens: ArrayLike<number>;
  /** Entries that stay, with what belongs to them. @default none */
  readonly pinned?: readonly number[];
}

/** The edits that make a history fit. */
export interface WindowFit {
  /** Entries whose tool results to summarize, ascending. */
  readonly summarized: readonly number[];
  /** Entries to drop, ascending; none of them is in `summarized`. */
  readonly dropped: readonly number[];
  /** Tokens after these edits; over the limit if nothing more may be dropped. */
  readonly tokens: number;
}

/**
 * Chooses edits that leave at most `limitTokens`. First summarizes the largest tool results; if they suffice, only those that a
 * request has contained, because an agent that never sees a result would ask for it forever. Then drops the oldest turns as a
 * whole; then the oldest calls of the current turn with their responses; last the opening instructions. The newest human entry
 * and open calls stay. Linear in entries, except for one sort by size.
 */
export function fitToWindow(input: Fittable, limitTokens: number): WindowFit {
  const current = new Float64Array(input.tokens);
  let total = current.reduce((sum, tokens) => sum + tokens, 0);
  const summarized = new Set<number>();
  for (const entry of chooseResults(input, total - limitTokens)) {
    if (total <= limitTokens) break;
    summarized.add(entry);
    const after = input.summarizedTokens[entry] ?? 0;
    total -= (current[entry] ?? 0) - after;
    current[entry] = after;
  }
  const dropped = dropUnits(droppableUnits(input), current, limitTokens);
  for (const entry of dropped) {
    summarized.delete(entry);
    total -= current[entry] ?? 0;
  }
  return { summarized: [...summarized].sort((a, b) => a - b), dropped, tokens: total };
}

/** Entries that summaries make smaller, by descending savings; those not sent yet only if the others do not save enough. */
function chooseResults(
  { tokens, summarizedTokens, outline }: Fittable,
  excessTokens: number,
): readonly number[] {
  const saved = new Float64Array(tokens).map(
    (before, entry) => before - (summarizedTokens[entry] ?? before),
  );
  const bySavings = [...saved.keys()]
    .filter((entry) => (saved[entry] ?? 0) > 0)
    .sort((a, b) => (saved[b] ?? 0) - (saved[a] ?? 0));
  const sentEntries = unsentStart(outline);
  const sent = bySavings.filter((entry) => entry < sentEntries);
  const savedOfSent = sent.reduce((sum, entry) => sum + (saved[entry] ?? 0), 0);
  return savedOfSent >= excessTokens ? sent : bySavings;
}

/**
 * The groups that may be dropped, oldest first: turns before the newest human entry, then groups after it, last the opening
 * instructions. Of a turn with an open call, everything else may be dropped.
 */
function droppableUnits({ outline, pinned = [] }: Fittable): readonly (readonly number[])[] {
  const groups = groupToolEntries(outline);
  const asked = newestUserEntryOrSummary(outline);
  for (const entry of [...pinned, asked]) if (entry !== -1) groups.pin(entry);
  let turn = -1;
  for (let entry = 0; entry < asked; entry += 1) {
    if (((outline.flags[entry] ?? 0) & ENTRY_FLAG.human) !== 0) turn = entry;
    if (turn === -1) continue;
    // A pinned group is left out of its turn; joining it would pin the whole turn.
    const isPinned = [turn, entry].some((member) => groups.isPinned(groups.find(member)));
    if (!isPinned) groups.join(turn, entry);
  }
  return instructionsLast(outline, groups.units());
}
