// Chooses which old entries leave when summaries alone do not save enough.

import type { IContent } from '../content.js';
import type { ToolPair } from '../tool-pairs.js';
import { EntryGroups, groupToolEntries } from './entry-groups.js';

/** A history with what is known about its entries. */
export interface Truncatable {
  readonly history: readonly IContent[];
  readonly pairs: readonly ToolPair[];
  /** Tokens of each entry. */
  readonly tokens: readonly number[];
  /** Index of the first entry that stays whatever happens. */
  readonly tailStart: number;
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. First go the oldest ai entries, together with all
 * that answers them; only when no other entry is left in the head, the oldest human ones. A call
 * without response, the tail, and the newest human entry always stay. Linear: the totals are summed
 * once, and every drop subtracts what it removes.
 */
export function chooseDrops(input: Truncatable, targetTokens: number): readonly number[] {
  const { history, tokens } = input;
  let excess = tokens.reduce((sum, count) => sum + count, 0) - targetTokens;
  const dropped: number[] = [];
  const drop = (entries: readonly number[]): void => {
    for (const entry of entries) {
      dropped.push(entry);
      excess -= tokens[entry] ?? 0;
    }
  };
  const newestHuman = history.findLastIndex(({ speaker }) => speaker === 'human');
  // A summary speaks as a human too, but it is not what was asked.
  const asked = newestAsked(history);
  for (const unit of droppableUnits(input)) {
    if (excess <= 0) break;
    drop(unit);
  }
  for (let entry = 0; entry < input.tailStart && excess > 0; entry += 1) {
    if (entry === newestHuman || entry === asked) continue;
    if (history[entry]?.speaker === 'human') drop([entry]);
  }
  return dropped.sort((a, b) => a - b);
}

/** The groups of head entries that only make sense together, oldest first; a group that must stay is left out. */
function droppableUnits({
  history,
  pairs,
  tailStart,
}: Truncatable): readonly (readonly number[])[] {
  const groups = new EntryGroups(history.length);
  for (const { callEntry, responseEntry } of pairs) {
    if (responseEntry === undefined) groups.pin(callEntry);
    else groups.join(callEntry, responseEntry);
  }
  for (let entry = tailStart; entry < history.length; entry += 1) groups.pin(entry);

  const units = new Map<number, number[]>();
  for (let entry = 0; entry < tailStart; entry += 1) {
    if (history[entry]?.speaker === 'human') continue;
    const group = groups.find(entry);
    if (groups.isPinned(group)) continue;
    const unit = units.get(group);
    if (unit === undefined) units.set(group, [entry]);
    else unit.push(entry);
  }
  return [...units.values()];
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. The oldest go first, of whatever kind, each with
 * all that its calls and responses tie to it. What the user asked last and calls without response
 * always stay. Linear.
 */
export function chooseOldest(
  history: readonly IContent[],
  tokens: readonly number[],
  targetTokens: number,
): readonly number[] {
  const groups = groupToolEntries(history);
  const asked = newestAsked(history);
  if (asked !== -1) groups.pin(asked);

  const members = new Map<number, number[]>();
  for (let entry = 0; entry < history.length; entry += 1) {
    const group = groups.find(entry);
    if (groups.isPinned(group)) continue;
    const known = members.get(group);
    if (known === undefined) members.set(group, [entry]);
    else known.push(entry);
  }

  let excess = tokens.reduce((sum, count) => sum + count, 0) - targetTokens;
  const dropped: number[] = [];
  // A map keeps the order of insertion, which here is that of the oldest entry of each group.
  for (const entries of members.values()) {
    if (excess <= 0) break;
    for (const entry of entries) {
      dropped.push(entry);
      excess -= tokens[entry] ?? 0;
    }
  }
  return dropped.sort((a, b) => a - b);
}

/** Index of the newest human entry that is no summary, or -1. */
export function newestAsked(history: readonly IContent[]): number {
  return history.findLastIndex(
    ({ speaker, metadata }) => speaker === 'human' && metadata?.isSummary !== true,
  );
}
