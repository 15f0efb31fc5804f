// The results of benchmarks: measured values and goals. Data only.

import type { PeerFigures } from './peer-figures.js';

/** One measured value. */
export interface Measurement {
  readonly scope: string;
  readonly name: string;
  /** Length of the history. */
  readonly entries: number;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'MB/s';
  /** Number of runs that `value` is the median of. */
  readonly runs: number;
}

/** A bound on a ratio or an amount. */
export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
}

/** The results of a scope. */
export interface ScopeResult {
  readonly measurements: readonly Measurement[];
  readonly goals: readonly Goal[];
  /** Figures of several tools, printed as a separate table. */
  readonly peers?: readonly PeerFigures[];
}

/** The input of a scope. */
export interface ScopeContext {
  /** Lengths of the histories to measure on, ascending. */
  readonly sizes: readonly number[];
  /** Median milliseconds of one structuredClone of a history of that length. */
  readonly cloneMs: (entries: number) => number;
}

/** The value of an earlier measurement. */
export function valueOf(
  measurements: readonly Measurement[],
  name: string,
  entries: number,
): number | undefined {
  return measurements.find((made) => made.name === name && made.entries === entries)?.value;
}
