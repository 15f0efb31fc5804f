// How far a figure would be off with other sessions of the kind: the bootstrap (Efron, 1979). Sessions are drawn with
// replacement, not needs: those of one session are alike.

import { seededRandom } from '../support/seeded-random.js';

const SEED = 16;
const RESAMPLES = 1_000;
/** A twentieth of the draws is outside, half of it on each side. */
const OUTSIDE = 0.05;

/** Nineteen of twenty draws lie between. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The interval of a figure over sessions. The same sessions give the same one.
 *
 * @param figure takes sessions, some of them more than once; what is NaN there is left out
 */
export function bootstrap<T>(
  sessions: readonly T[],
  figure: (drawn: readonly T[]) => number,
): Interval {
  const random = seededRandom(SEED);
  const figures: number[] = [];
  for (let draw = 0; draw < RESAMPLES; draw += 1) {
    const drawn = sessions.flatMap(() => sessions[Math.floor(random() * sessions.length)] ?? []);
    const value = figure(drawn);
    if (!Number.isNaN(value)) figures.push(value);
  }
  figures.sort((a, b) => a - b);
  const at = (share: number): number => figures[Math.round(share * (figures.length - 1))] ?? NaN;
  return { low: at(OUTSIDE / 2), high: at(1 - OUTSIDE / 2) };
}
