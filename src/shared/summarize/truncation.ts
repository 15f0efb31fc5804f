// Chooses which old entries leave when summaries alone do not save enough.

import type { IContent } from '../content.js';
import { groupToolEntries } from './entry-groups.js';

/** A history with what is known about its entries. */
export interface Truncatable {
  readonly history: readonly IContent[];
  /** Tokens of each entry. */
  readonly tokens: readonly number[];
  /** Index of the first entry that stays whatever happens. */
  readonly tailStart: number;
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. First go the oldest ai entries, together with all
 * that answers them; only when no other entry is left in the head, the oldest human ones, and the
 * instructions that a history opens with last of these. A call without response, the tail, and the
 * newest human entry always stay. Linear.
 */
export function chooseDrops(input: Truncatable, targetTokens: number): readonly number[] {
  const { history, tokens, tailStart } = input;
  const groups = groupToolEntries(history);
  for (let entry = tailStart; entry < history.length; entry += 1) groups.pin(entry);
  const newestHuman = history.findLastIndex(({ speaker }) => speaker === 'human');
  if (newestHuman !== -1) groups.pin(newestHuman);
  // A summary speaks as a human too, but it is not what was asked.
  const asked = newestAsked(history);
  if (asked !== -1) groups.pin(asked);

  const units = groups.units();
  const isHuman = (unit: readonly number[]): boolean => history[unit[0] ?? 0]?.speaker === 'human';
  return dropUnits(
    [
      ...units.filter((unit) => !isHuman(unit)),
      ...instructionsLast(history, units.filter(isHuman)),
    ],
    tokens,
    targetTokens,
  );
}

/**
 * Returns the indices of the entries to drop, ascending, so that the rest holds at most
 * `targetTokens`, or as near to it as it may get. The oldest go first, of whatever kind, each with
 * all that its calls and responses tie to it; the instructions that a history opens with go last.
 * What the user asked last and calls without response always stay. Linear.
 */
export function chooseOldest(
  history: readonly IContent[],
  tokens: readonly number[],
  targetTokens: number,
): readonly number[] {
  const groups = groupToolEntries(history);
  const asked = newestAsked(history);
  if (asked !== -1) groups.pin(asked);
  return dropUnits(instructionsLast(history, groups.units()), tokens, targetTokens);
}

/** Index of the newest human entry that is no summary, or -1. */
export function newestAsked(history: readonly IContent[]): number {
  return history.findLastIndex(
    ({ speaker, metadata }) => speaker === 'human' && metadata?.isSummary !== true,
  );
}

/**
 * Puts last the units of the instructions that a history opens with: the synthetic human entries
 * in front of everything else, as which system prompts come in.
 */
export function instructionsLast(
  history: readonly IContent[],
  units: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const end = history.findIndex(
    ({ speaker, metadata }) =>
      speaker !== 'human' || metadata?.synthetic !== true || metadata.isSummary === true,
  );
  const instructions = end === -1 ? history.length : end;
  const isInstruction = (unit: readonly number[]): boolean => (unit[0] ?? 0) < instructions;
  return [...units.filter((unit) => !isInstruction(unit)), ...units.filter(isInstruction)];
}

function dropUnits(
  units: readonly (readonly number[])[],
  tokens: readonly number[],
  targetTokens: number,
): readonly number[] {
  let excess = tokens.reduce((sum, count) => sum + count, 0) - targetTokens;
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
