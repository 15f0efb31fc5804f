// The figures of a policy as shares, which is what tables and charts show. One place for each formula.

import { CACHE_READ_PRICE, inputCostAt } from './context-meter.js';
import type { Figures } from './measure.js';
import { OTHER_IDENTIFIERS } from './needs/need.js';
import type { NeedKind } from './needs/need.js';
import { OUTCOMES } from './recovery.js';
import type { Outcome } from './recovery.js';

/** A share as what it divides. */
export interface Ratio {
  readonly part: number;
  readonly whole: number;
}

/** The quotient; `ifNone` where there is nothing to have a share of. */
export function shareOf({ part, whole }: Ratio, ifNone: number): number {
  return whole === 0 ? ifNone : part / whole;
}

/** By name, kinds of needs that are looked at together. */
export const NEED_GROUPS = {
  edits: ['edit'],
  identifiers: OTHER_IDENTIFIERS,
  quotes: ['quote'],
  errors: ['error'],
  words: ['words'],
} as const satisfies Readonly<Record<string, readonly NeedKind[]>>;

export type NeedGroup = keyof typeof NEED_GROUPS;

/** Of the needs of these kinds, by weight, what came out so. */
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

/** Of the edits, the share whose text stayed in view. 1 where there were none. */
export function retainedShare({ edits, atRisk }: Figures): number {
  return 1 - shareOf({ part: atRisk.length, whole: edits }, 0);
}

/** Of the unpruned input tokens, the share that was not sent. */
export function savedShare({ tokens, unpruned }: Figures): number {
  return 1 - shareOf({ part: tokens, whole: unpruned.tokens }, 1);
}

/** The same when all that was used and is not in view is read again. */
export function netSavedShare({ tokens, readAgainTokens, unpruned }: Figures): number {
  return 1 - shareOf({ part: tokens + readAgainTokens, whole: unpruned.tokens }, 1);
}

/** What the input cost, of what it costs unpruned; with `isGapped` a cache goes cold behind a gap. */
export function costRatio(figures: Figures, readPrice: number, isGapped: boolean): Ratio {
  return {
    part: inputCostAt(figures, readPrice, isGapped),
    whole: inputCostAt(figures.unpruned, readPrice, isGapped),
  };
}

/** What the input cost, as a share of what it costs unpruned. */
export function costShare(figures: Figures): number {
  return shareOf({ part: figures.inputCost, whole: figures.unpruned.inputCost }, 1);
}

/** The cost when all that was used and is not in view is read again. */
export function netCostRatio(figures: Figures): Ratio {
  const { part, whole } = costRatio(figures, CACHE_READ_PRICE, false);
  return { part: part + figures.readAgainCost, whole };
}
