// Honest tuning: the numbers of a policy are found on half of the sessions and judged on the other half, over several
// splits. Says whether the shipped ones are what the data would have chosen.

import { bootstrap } from '../bootstrap.js';
import type { Interval } from '../bootstrap.js';
import { measure, sumFigures } from '../measure.js';
import type { Figures } from '../measure.js';
import type { Policy } from '../policy.js';
import type { RecordedSession } from '../recorded-session.js';
import { NEED_GROUPS, netCostRatio, outcomeRatio, shareOf } from '../shares.js';
import { fit } from './fit.js';
import type { Numbers } from './fit.js';
import { splitsOf } from './splits.js';

/** A policy by its numbers. */
export interface Tunable<T extends Numbers> {
  readonly shipped: T;
  /** Where the search begins besides: from the shipped numbers alone it would find them again too easily. */
  readonly starts: readonly T[];
  /** Which numbers are found by data. */
  readonly names: readonly (keyof T & string)[];
  readonly policyOf: (numbers: T) => Policy;
}

/** Numbers on both halves of a split. */
export interface Judged {
  readonly fitted: Figures;
  readonly heldOut: Figures;
}

export interface SplitReport<T extends Numbers> {
  /** What the fitted half chose. */
  readonly numbers: T;
  readonly tuned: Judged;
  readonly shipped: Judged;
  /** The sessions of the held-out half. */
  readonly sources: ReadonlySet<string>;
  /** By how much the chosen numbers are better than the shipped ones, on each half: a difference of losses. */
  readonly gainFitted: number;
  readonly gainHeldOut: number;
}

export interface TuningReport<T extends Numbers> {
  readonly names: readonly string[];
  readonly splits: readonly SplitReport<T>[];
  /** The gain over all held-out halves: what is to be had from other numbers on sessions that they were not found on. */
  readonly gain: number;
  /** How far that may be off: its interval over sessions. */
  readonly spread: Interval;
  /** Whether the shipped numbers are worse by more than the spread: in all of the interval. */
  readonly isRefused: boolean;
}

/** What is to stay in view, by share. What is above it is worth nothing: it only costs. */
const AIM = [
  [NEED_GROUPS.edits, 0.97],
  [NEED_GROUPS.identifiers, 0.93],
  [NEED_GROUPS.quotes, 0.95],
] as const;

/**
 * What is to be small: the price of the input, of what it is unpruned, when all that was used and is not in view is
 * read again; and what is short of the aim, a point for a point. By the price alone it would pay to keep next to nothing:
 * an agent that has to ask again for a fifth of what it uses is cheap, if it does ask and goes on as if nothing were.
 */
export function lossOf(sessions: readonly Figures[]): number {
  const figures = sumFigures(sessions);
  let loss = shareOf(netCostRatio(figures), 1);
  for (const [kinds, aim] of AIM) {
    loss += Math.max(0, aim - shareOf(outcomeRatio(figures, kinds, 'inView'), aim));
  }
  return loss;
}

/** Tunes on some splits of the sessions. The same sessions and seed give the same report. */
export function tune<T extends Numbers>(
  contexts: readonly RecordedSession[],
  { shipped, starts, names, policyOf }: Tunable<T>,
  splitCount: number,
  seed?: number,
): TuningReport<T> {
  // Splits share sessions, and tries of one number share the others: each is measured once.
  const known = new Map<string, Map<RecordedSession, Figures>>();
  const figuresOf = (numbers: T, of: readonly RecordedSession[]): Figures => {
    const key = JSON.stringify(numbers);
    const bySession = known.get(key) ?? new Map<RecordedSession, Figures>();
    known.set(key, bySession);
    const policy = policyOf(numbers);
    return sumFigures(
      of.map((session) => {
        const figures = bySession.get(session) ?? measure(session, policy);
        bySession.set(session, figures);
        return figures;
      }),
    );
  };
  const splits = splitsOf(contexts, splitCount, seed).map(({ fitted, heldOut }) => {
    const loss = (tried: T): number => lossOf([figuresOf(tried, fitted)]);
    const numbers = [shipped, ...starts]
      .map((start) => fit(start, names, loss))
      .reduce((best, found) => (loss(found) < loss(best) ? found : best));
    const judge = (of: T): Judged => {
      return { fitted: figuresOf(of, fitted), heldOut: figuresOf(of, heldOut) };
    };
    const [tuned, before] = [judge(numbers), judge(shipped)];
    return {
      numbers,
      tuned,
      shipped: before,
      sources: new Set(heldOut.map(({ source }) => source)),
      gainFitted: lossOf([before.fitted]) - lossOf([tuned.fitted]),
      gainHeldOut: lossOf([before.heldOut]) - lossOf([tuned.heldOut]),
    };
  });
  const sources = [...new Set(contexts.map(({ source }) => source))];
  // By session, its figures wherever it was held out.
  const heldOut = sources.map((source) => {
    const of = contexts.filter((context) => context.source === source);
    const chosen = splits.filter((split) => split.sources.has(source));
    return {
      tuned: sumFigures(chosen.map(({ numbers }) => figuresOf(numbers, of))),
      shipped: sumFigures(chosen.map(() => figuresOf(shipped, of))),
    };
  });
  const gainOf = (drawn: Readonly<typeof heldOut>): number =>
    lossOf(drawn.map((session) => session.shipped)) - lossOf(drawn.map(({ tuned }) => tuned));
  const [gain, spread] = [gainOf(heldOut), bootstrap(heldOut, gainOf)];
  return { names, splits, gain, spread, isRefused: spread.low > 0 };
}
