// Tuning with held-out data: fits the numbers of a policy on half of the sessions and evaluates them on the other half, over
// several splits. Says whether the data supports the shipped numbers.

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

/** A policy with adjustable numbers. */
export interface Tunable<T extends Numbers> {
  readonly shipped: T;
  /** Additional starting points: from the shipped numbers alone, the search would too easily find them again. */
  readonly starts: readonly T[];
  /** The numbers to fit. */
  readonly names: readonly (keyof T & string)[];
  readonly policyOf: (numbers: T) => Policy;
}

/** The figures of some numbers on both halves of a split. */
export interface Judged {
  readonly fitted: Figures;
  readonly heldOut: Figures;
}

export interface SplitReport<T extends Numbers> {
  /** The numbers fitted on the first half. */
  readonly numbers: T;
  readonly tuned: Judged;
  readonly shipped: Judged;
  /** The sessions of the held-out half. */
  readonly sources: ReadonlySet<string>;
  /** Loss of the shipped numbers minus loss of the fitted ones, on each half. */
  readonly gainFitted: number;
  readonly gainHeldOut: number;
}

export interface TuningReport<T extends Numbers> {
  readonly names: readonly string[];
  readonly splits: readonly SplitReport<T>[];
  /** The gain over all held-out halves: what other numbers achieve on sessions that they were not fitted on. */
  readonly gain: number;
  /** The confidence interval of the gain over sessions. */
  readonly spread: Interval;
  /** Whether the shipped numbers are significantly worse: the whole interval is above zero. */
  readonly isRefused: boolean;
}

/** Target shares in view. Anything above a target only costs. */
const AIM = [
  [NEED_GROUPS.edits, 0.97],
  [NEED_GROUPS.identifiers, 0.93],
  [NEED_GROUPS.quotes, 0.95],
] as const;

/**
 * The loss: the price of the input relative to unpruned, if everything used but not in view is read again, plus each point below
 * the target shares. With the price alone, keeping next to nothing would win: an agent that has to ask again for a fifth of what
 * it uses is cheap, provided that it asks and continues as if nothing had happened.
 */
export function lossOf(sessions: readonly Figures[]): number {
  const figures = sumFigures(sessions);
  let loss = shareOf(netCostRatio(figures), 1);
  for (const [kinds, aim] of AIM) {
    loss += Math.max(0, aim - shareOf(outcomeRatio(figures, kinds, 'inView'), aim));
  }
  return loss;
}

/** Tunes on several splits. Deterministic for the same sessions and seed. */
export function tune<T extends Numbers>(
  contexts: readonly RecordedSession[],
  { shipped, starts, names, policyOf }: Tunable<T>,
  splitCount: number,
  seed?: number,
): TuningReport<T> {
  // Measures each session and choice once: splits share sessions, and the search repeats numbers.
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
  // The figures of each session over the splits that held it out.
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
