// Chooses the old entries to drop when summaries alone do not save enough. Entries of calls and their responses are grouped,
// so that none is dropped without the others.

import { NONE } from '../density/index/history-columns.js';
import { continuesAnswer, ENTRY_FLAG } from './history-outline.js';
import type { HistoryOutline } from './history-outline.js';
import { pushTo } from '../lists-by-key.js';

/** A history, reduced to what the choice depends on. */
export interface Truncatable {
  readonly outline: HistoryOutline;
  /** Tokens of each entry. */
  readonly tokens: ArrayLike<number>;
  /** Index of the first entry of the tail, which always stays. */
  readonly tailStart: number;
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest has at most `targetTokens`, or as few more as
 * possible. Drops the oldest ai entries first, with their responses; then, if no others are left before the tail, the oldest
 * human entries; the opening instructions last. Open calls, the tail, the human entry that the tail answers, and the newest
 * human entry always stay. Linear.
 */
export function chooseDrops(input: Truncatable, targetTokens: number): readonly number[] {
  const { outline, tokens, tailStart } = input;
  const { length, flags } = outline;
  const groups = groupToolEntries(outline);
  for (let entry = tailStart; entry < length; entry += 1) groups.pin(entry);
  // Without it, the rest could begin with an ai entry, which providers refuse.
  const opening = flags.subarray(0, tailStart + 1).findLastIndex(isHuman);
  if (opening !== -1) groups.pin(opening);
  const asked = newestUserEntry(outline);
  if (asked !== -1) groups.pin(asked);

  const units = groups.units();
  const isHumanUnit = (unit: readonly number[]): boolean => isHuman(flags[unit[0] ?? 0] ?? 0);
  return dropUnits(
    [
      ...units.filter((unit) => !isHumanUnit(unit)),
      ...instructionsLast(outline, units.filter(isHumanUnit)),
    ],
    tokens,
    targetTokens,
  );
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest has at most `targetTokens`, or as few more as
 * possible. Drops the oldest entries of any kind first, with the entries that their calls and responses tie to them, and a
 * human entry with its answers; the opening instructions last. The user's last entry, open calls and everything not sent yet
 * always stay: an agent that never sees a result would ask for it forever. Linear.
 */
export function chooseOldest(
  outline: HistoryOutline,
  tokens: ArrayLike<number>,
  targetTokens: number,
): readonly number[] {
  const groups = groupToolEntries(outline);
  const asked = newestUserEntryOrSummary(outline);
  if (asked !== -1) groups.pin(asked);
  pinUnsent(groups, outline, asked);
  const units = groups.units();
  const dropped = dropUnits(instructionsLast(outline, units), tokens, targetTokens);
  return dropped.length === 0 ? dropped : withAnswersOf(dropped, units, outline);
}

/**
 * Pins the newest ai entry and everything after it, which no request has contained yet. If the user's last entry is not
 * before it, also pins the human entry that is, because providers refuse a history that begins with an ai entry.
 */
function pinUnsent(groups: EntryGroups, outline: HistoryOutline, asked: number): void {
  const { length, flags } = outline;
  const unsent = unsentStart(outline);
  for (let entry = unsent; entry < length; entry += 1) groups.pin(entry);
  if (asked < unsent) return;
  const opening = flags.subarray(0, unsent).findLastIndex(isHuman);
  if (opening !== -1) groups.pin(opening);
}

/** Index of the newest ai entry, which no request has contained yet; the length if there is none. */
export function unsentStart({ length, flags }: HistoryOutline): number {
  const newest = flags.findLastIndex((bits) => (bits & ENTRY_FLAG.ai) !== 0);
  return newest === -1 ? length : newest;
}

/** Also drops what would be left before the first human entry, because providers refuse a history that begins with it. */
function withAnswersOf(
  dropped: readonly number[],
  units: readonly (readonly number[])[],
  { flags }: HistoryOutline,
): readonly number[] {
  const gone = new Set(dropped);
  const start = flags.findIndex((bits, entry) => isHuman(bits) && !gone.has(entry));
  for (const unit of units) {
    if ((unit[0] ?? 0) >= start) break;
    for (const entry of unit) gone.add(entry);
  }
  return [...gone].sort((a, b) => a - b);
}

/** Index of the newest human entry that is not a summary, or -1. */
export function newestUserEntry({ flags }: HistoryOutline): number {
  const { human, summary } = ENTRY_FLAG;
  return flags.findLastIndex((bits) => (bits & (human | summary)) === human);
}

/** `newestUserEntry`, or the newest summary if there is none, or -1. */
export function newestUserEntryOrSummary(outline: HistoryOutline): number {
  const asked = newestUserEntry(outline);
  return asked === -1 ? outline.flags.findLastIndex(isHuman) : asked;
}

/**
 * Moves the opening instructions to the end: the synthetic human entries before everything else, which are system prompts and
 * summaries of earlier parts.
 */
export function instructionsLast(
  { flags }: HistoryOutline,
  units: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const { human, synthetic } = ENTRY_FLAG;
  const end = flags.findIndex((bits) => (bits & (human | synthetic)) !== (human | synthetic));
  const isInstruction = (unit: readonly number[]): boolean => (unit[0] ?? 0) < end;
  return [...units.filter((unit) => !isInstruction(unit)), ...units.filter(isInstruction)];
}

function isHuman(bits: number): boolean {
  return (bits & ENTRY_FLAG.human) !== 0;
}

/** The entries, ascending, of the first units that must be dropped to get down to `targetTokens`. */
export function dropUnits(
  units: readonly (readonly number[])[],
  tokens: ArrayLike<number>,
  targetTokens: number,
): readonly number[] {
  let excess = new Float64Array(tokens).reduce((sum, count) => sum + count, 0) - targetTokens;
  const dropped: number[] = [];
  for (const unit of units) {
    if (excess <= 0) break;
    for (const entry of unit) {
      dropped.push(entry);
      excess -= tokens[entry] ?? 0;
    }
  }
  return dropped.sort((a, b) => a - b);
}

/** Disjoint sets of entries to drop or keep together. Path halving: near-linear in joins (Tarjan and van Leeuwen 1984). */
export class EntryGroups {
  readonly #parent: Int32Array;
  readonly #pinned: Uint8Array;

  constructor(length: number) {
    this.#parent = Int32Array.from({ length }, (_, entry) => entry);
    this.#pinned = new Uint8Array(length);
  }

  /** The group of an entry; entries of one group have the same number. */
  find(entry: number): number {
    let at = entry;
    for (;;) {
      const parent = this.#parent[at] ?? at;
      if (parent === at) return at;
      const grandparent = this.#parent[parent] ?? parent;
      this.#parent[at] = grandparent;
      at = grandparent;
    }
  }

  /** Merges two groups; the result is pinned if either was. */
  join(a: number, b: number): void {
    const first = this.find(a);
    const second = this.find(b);
    if (this.isPinned(second)) this.pin(first);
    this.#parent[second] = first;
  }

  /** Keeps the group of an entry. */
  pin(entry: number): void {
    this.#pinned[this.find(entry)] = 1;
  }

  isPinned(group: number): boolean {
    return this.#pinned[group] === 1;
  }

  /** The groups that are not pinned, by their oldest entry; each with its entries ascending. */
  units(): readonly (readonly number[])[] {
    const units = new Map<number, number[]>();
    for (let entry = 0; entry < this.#parent.length; entry += 1) {
      const group = this.find(entry);
      if (this.isPinned(group)) continue;
      pushTo(units, group, entry);
    }
    return [...units.values()];
  }
}

/**
 * Groups the entries of calls with those of their responses, including incomplete ones. Groups with an open call are
 * pinned. What only continues an answer is in its group. Linear in calls and responses.
 */
export function groupToolEntries(outline: HistoryOutline): EntryGroups {
  const { callEntries, responseEntries, partialEntries, partialCalls } = outline;
  const groups = new EntryGroups(outline.length);
  callEntries.forEach((callEntry, call) => {
    const responseEntry = responseEntries[call] ?? NONE;
    if (responseEntry === NONE) groups.pin(callEntry);
    else groups.join(callEntry, responseEntry);
  });
  partialEntries.forEach((entry, row) => {
    groups.join(callEntries[partialCalls[row] ?? NONE] ?? entry, entry);
  });
  for (let entry = 1; entry < outline.length; entry += 1)
    if (continuesAnswer(outline, entry)) groups.join(entry - 1, entry);
  return groups;
}
