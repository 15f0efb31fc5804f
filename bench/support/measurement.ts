// What a benchmark says: measured values, and goals that they are held against. Data only.

import type { PeerFigures } from './peer-figures.js';

/** One measured value. */
export interface Measurement {
  readonly scope: string;
  readonly name: string;
  /** Entries of the history that was worked on. */
  readonly entries: number;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'MB/s';
  /** Runs of which `value` is the median. */
  readonly runs: number;
}

/** A bound on a ratio or an amount. */
export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
}

/** What a scope found out. */
export interface ScopeResult {
  readonly measurements: readonly Measurement[];
  readonly goals: readonly Goal[];
  /** Figures of several tools, which are printed as a table of their own. */
  readonly peers?: readonly PeerFigures[];
}

/** What a scope is given. */
export interface ScopeContext {
  /** Lengths of the histories to measure on, ascending. */
  readonly sizes: readonly number[];
  /** Milliseconds, the median, that one structuredClone of the history of that length takes. */
  readonly cloneMs: (entries: number) => number;
}

/** The value of a measurement that was made before. */
export function valueOf(
  measurements: readonly Measurement[],
  name: string,
  entries: number,
): number | undefined {
  return measurements.find((made) => made.name === name && made.entries === entries)?.value;
}
