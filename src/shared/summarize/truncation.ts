// Chooses which old entries leave when summaries alone do not save enough.

import { groupToolEntries } from './entry-groups.js';
import type { EntryGroups } from './entry-groups.js';
import { ENTRY_FLAG } from './history-outline.js';
import type { HistoryOutline } from './history-outline.js';

/** A history with what is known about its entries. */
export interface Truncatable {
  readonly outline: HistoryOutline;
  /** Tokens of each entry. */
  readonly tokens: ArrayLike<number>;
  /** Index of the first entry that stays whatever happens. */
  readonly tailStart: number;
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. First go the oldest ai entries, together with all
 * that answers them; only when no other entry is left in the head, the oldest human ones, and the
 * instructions that a history opens with last of these. A call without response, the tail, the human
 * entry that the tail answers, and the newest one always stay. Linear.
 */
export function chooseDrops(input: Truncatable, targetTokens: number): readonly number[] {
  const { outline, tokens, tailStart } = input;
  const { length, flags } = outline;
  const groups = groupToolEntries(outline);
  for (let entry = tailStart; entry < length; entry += 1) groups.pin(entry);
  // Without it, the rest could begin with what an ai entry says, which providers refuse.
  const opening = flags.subarray(0, tailStart + 1).findLastIndex(isHuman);
  if (opening !== -1) groups.pin(opening);
  // A summary speaks as a human too, but it is not what was asked.
  const asked = newestAsked(outline);
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
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. The oldest go first, of whatever kind, each with
 * all that its calls and responses tie to it, and a human one with what answers it; the instructions
 * that a history opens with go last. What the user asked last, calls without response, and what no request has
 * carried yet always stay: an agent that never sees a result asks for it again, for ever. Linear.
 */
export function chooseOldest(
  outline: HistoryOutline,
  tokens: ArrayLike<number>,
  targetTokens: number,
): readonly number[] {
  const groups = groupToolEntries(outline);
  const asked = newestAskedOrTold(outline);
  if (asked !== -1) groups.pin(asked);
  pinUnsent(groups, outline, asked);
  const units = groups.units();
  const dropped = dropUnits(instructionsLast(outline, units), tokens, targetTokens);
  return dropped.length === 0 ? dropped : withAnswersOf(dropped, units, outline);
}

/**
 * Pins the newest ai entry and all behind it, which no request has held. Providers refuse a history that begins with
 * an ai entry: where what was asked last does not stand before it, the human entry that does is pinned as well.
 */
function pinUnsent(groups: EntryGroups, { length, flags }: HistoryOutline, asked: number): void {
  const unsent = flags.findLastIndex((bits) => (bits & ENTRY_FLAG.ai) !== 0);
  if (unsent === -1) return;
  for (let entry = unsent; entry < length; entry += 1) groups.pin(entry);
  if (asked !== -1 && asked < unsent) return;
  const opening = flags.subarray(0, unsent).findLastIndex(isHuman);
  if (opening !== -1) groups.pin(opening);
}

/** Drops also what is left in front of the first human entry: providers refuse a history that begins with it. */
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

/** Index of the newest human entry that is no summary, or -1. */
export function newestAsked({ flags }: HistoryOutline): number {
  const { human, summary } = ENTRY_FLAG;
  return flags.findLastIndex((bits) => (bits & (human | summary)) === human);
}

/** Index of the newest human entry that is no summary, or of the newest summary where there is none; or -1. */
export function newestAskedOrTold(outline: HistoryOutline): number {
  const asked = newestAsked(outline);
  return asked === -1 ? outline.flags.findLastIndex(isHuman) : asked;
}

/**
 * Puts last the units of the instructions that a history opens with: the synthetic human entries in front of everything
 * else, as which system prompts come in, and what stands for all that was said before.
 */
export function instructionsLast(
  { length, flags }: HistoryOutline,
  units: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const { human, synthetic } = ENTRY_FLAG;
  const end = flags.findIndex((bits) => (bits & (human | synthetic)) !== (human | synthetic));
  const instructions = end === -1 ? length : end;
  const isInstruction = (unit: readonly number[]): boolean => (unit[0] ?? 0) < instructions;
  return [...units.filter((unit) => !isInstruction(unit)), ...units.filter(isInstruction)];
}

function isHuman(bits: number): boolean {
  return (bits & ENTRY_FLAG.human) !== 0;
}

function dropUnits(
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
