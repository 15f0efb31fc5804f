// The figures of a policy as shares, for tables and charts. The only place for these formulas.

import { CACHE_READ_PRICE, inputCostAt } from './context-meter.js';
import type { Figures } from './measure.js';
import { OTHER_IDENTIFIERS } from './needs/need.js';
import type { NeedKind } from './needs/need.js';
import { OUTCOMES } from './recovery.js';
import type { Outcome } from './recovery.js';

/** A share as numerator and denominator. */
export interface Ratio {
  readonly part: number;
  readonly whole: number;
}

/** The quotient; `ifNone` if there is nothing to divide by. */
export function shareOf({ part, whole }: Ratio, ifNone: number): number {
  return whole === 0 ? ifNone : part / whole;
}

/** By name, kinds of needs that are reported together. */
export const NEED_GROUPS = {
  edits: ['edit'],
  identifiers: OTHER_IDENTIFIERS,
  quotes: ['quote'],
  errors: ['error'],
  words: ['words'],
} as const satisfies Readonly<Record<string, readonly NeedKind[]>>;

export type NeedGroup = keyof typeof NEED_GROUPS;

/** The weighted share of the needs of these kinds with this outcome. */
export function outcomeRatio(
  { needs }: Pick<Figures, 'needs'>,
  kinds: readonly NeedKind[],
  outcome: Outcome,
): Ratio {
  const sum = (outcomes: readonly Outcome[]): number =>
    kinds.reduce(
      (total, kind) => total + outcomes.reduce((inner, each) => inner + needs[kind][each], 0),
      0,
    );
  return { part: sum([outcome]), whole: sum(OUTCOMES) };
}

/** The share of edits whose text stayed in view; 1 without edits. */
export function retainedShare({ edits, atRisk }: Figures): number {
  return 1 - shareOf({ part: atRisk.length, whole: edits }, 0);
}

/** The share of unpruned input tokens that was not sent. */
export function savedShare({ tokens, unpruned }: Figures): number {
  return 1 - shareOf({ part: tokens, whole: unpruned.tokens }, 1);
}

/** The same if everything that was used but not in view is read again. */
export function netSavedShare({ tokens, readAgainTokens, unpruned }: Figures): number {
  return 1 - shareOf({ part: tokens + readAgainTokens, whole: unpruned.tokens }, 1);
}

/** Price of the input relative to unpruned; with `isGapped` the cache goes cold in gaps. */
export function costRatio(figures: Figures, readPrice: number, isGapped: boolean): Ratio {
  return {
    part: inputCostAt(figures, readPrice, isGapped),
    whole: inputCostAt(figures.unpruned, readPrice, isGapped),
  };
}

/** Price of the input as a share of the unpruned price. */
export function costShare(figures: Figures): number {
  return shareOf({ part: figures.inputCost, whole: figures.unpruned.inputCost }, 1);
}

/** The price if everything that was used but not in view is read again. */
export function netCostRatio(figures: Figures): Ratio {
  const { part, whole } = costRatio(figures, CACHE_READ_PRICE, false);
  return { part: part + figures.readAgainCost, whole };
}
