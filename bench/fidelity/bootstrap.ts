// Confidence intervals by the bootstrap (Efron, 1979). Draws sessions with replacement, not needs, because the needs of one
// session are correlated.

import { seededRandom } from '../support/seeded-random.js';

const SEED = 16;
const RESAMPLES = 1_000;
/** Share of the draws outside the interval, half on each side. */
const OUTSIDE = 0.05;

/** Contains 95 % of the draws. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The interval of a figure over sessions. Deterministic.
 *
 * @param figure takes sessions, some of them repeated; draws for which it is NaN are ignored
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
