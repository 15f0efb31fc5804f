// Prints the measurements as tables or JSON.

import { availableParallelism, cpus } from 'node:os';
import Table from 'cli-table3';
import type { Goal, Measurement } from './measurement.js';

/** The results of one run. */
export interface Report {
  readonly machine: string;
  readonly node: string;
  readonly sizes: readonly number[];
  /** By length, the median milliseconds of one structuredClone of the history. */
  readonly cloneMs: Readonly<Record<string, number>>;
  readonly measurements: readonly Measurement[];
  readonly goals: readonly (Goal & { readonly isMet: boolean })[];
}

/** The CPU model and the number of cores. */
export function describeMachine(): string {
  const cores = availableParallelism();
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cores} cores`;
}

/** The report as text: one table of measurements, one of goals. */
export function renderReport(report: Report): string {
  const { machine, node, measurements, goals } = report;
  const parts = [
    `${machine}; Node ${node}. Medians; in brackets the ratio to one structuredClone of the same history.`,
    renderMeasurements(report, measurements),
    ...(goals.length === 0 ? [] : [renderGoals(goals)]),
  ];
  return parts.join('\n\n');
}

function renderMeasurements(report: Report, measurements: readonly Measurement[]): string {
  const { sizes, cloneMs } = report;
  const table = new Table({
    head: ['scope', 'what', ...sizes.map((size) => size.toLocaleString('en'))],
    colAligns: ['left', 'left', ...sizes.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  const clones = sizes.map((size) => `${decimals(cloneMs[size] ?? NaN)} ms`);
  table.push(['', 'structuredClone of the history', ...clones]);
  const names = new Set(measurements.map(({ scope, name }) => `${scope}\n${name}`));
  for (const key of names) {
    const [scope = '', name = ''] = key.split('\n');
    const cells = sizes.map((size) => {
      const made = measurements.find(
        (one) => one.scope === scope && one.name === name && one.entries === size,
      );
      return made === undefined ? '' : renderValue(made, cloneMs[size]);
    });
    table.push([scope, name, ...cells]);
  }
  return table.toString();
}

function renderValue({ value, unit }: Measurement, cloneMs: number | undefined): string {
  const text = `${decimals(value)} ${unit}`;
  return unit !== 'ms' || cloneMs === undefined ? text : `${text} (${decimals(value / cloneMs)})`;
}

function renderGoals(goals: Report['goals']): string {
  const table = new Table({
    head: ['goal', 'at most', 'value', ''],
    colAligns: ['left', 'right', 'right', 'left'],
    style: { head: [], border: [], compact: true },
  });
  for (const { name, limit, value, isMet } of goals) {
    table.push([name, decimals(limit), decimals(value), isMet ? 'met' : 'MISSED']);
  }
  return table.toString();
}

/** Three significant digits, without exponents. */
function decimals(value: number): string {
  const digits =
    Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 4;
  return value
    .toFixed(digits)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
