// Prints the result of tuning: both halves of each split, the spread, and how many numbers were fitted.

import { CACHE_READ_PRICE } from '../context-meter.js';
import type { Figures } from '../measure.js';
import type { TextTable } from '../policy-table.js';
import {
  costRatio,
  NEED_GROUPS,
  netCostRatio,
  outcomeRatio,
  savedShare,
  shareOf,
} from '../shares.js';
import type { NeedGroup } from '../shares.js';
import type { Numbers } from './fit.js';
import { lossOf } from './tune.js';
import type { TuningReport } from './tune.js';

const HEADS = [
  'split',
  'half',
  'numbers',
  'loss',
  'net cost',
  'cost',
  'edits',
  'ids',
  'quotes',
  'saved',
];

/** One row for each half and choice of numbers. */
export function tuningTable<T extends Numbers>({ names, splits }: TuningReport<T>): TextTable {
  const rowsOf = (split: number, half: 'fitted' | 'heldOut'): readonly (readonly string[])[] => {
    const report = splits[split];
    if (report === undefined) return [];
    const label = half === 'fitted' ? 'fitted on' : 'held out';
    return [
      [`${split + 1}`, label, 'shipped', ...cellsOf(report.shipped[half])],
      [`${split + 1}`, label, 'tuned', ...cellsOf(report.tuned[half])],
    ];
  };
  return {
    title: 'Tuning',
    subtitle: `${names.length} numbers fitted on half of the sessions, over ${splits.length} splits`,
    heads: HEADS,
    rows: splits.flatMap((_, at) => [...rowsOf(at, 'fitted'), ...rowsOf(at, 'heldOut')]),
  };
}

/** The choice of each split, and the verdict on the shipped numbers. */
export function tuningVerdict<T extends Numbers>(
  report: TuningReport<T>,
  shipped: T,
): readonly string[] {
  const { names, splits, gain, spread, isRefused } = report;
  const changed = names.filter((name) =>
    splits.some(({ numbers }) => numbers[name] !== shipped[name]),
  );
  return [
    ...changed.map((name) => {
      const chosen = splits.map(({ numbers }) => numbers[name] ?? NaN);
      return `${name}: ${String(shipped[name])} shipped, ${chosen.join(', ')} chosen`;
    }),
    `On held-out sessions the chosen numbers gain ${points(gain)} points, between ${points(spread.low)} and ${points(spread.high)} with other sessions; ` +
      `on those that they were fitted to, ${points(meanFitted(report))}.`,
    isRefused
      ? 'The shipped numbers are refused: others are better by more than the spread.'
      : 'The shipped numbers hold: nothing found is better by more than the spread.',
  ];
}

function meanFitted<T extends Numbers>({ splits }: TuningReport<T>): number {
  return splits.reduce((sum, { gainFitted }) => sum + gainFitted, 0) / splits.length;
}

function cellsOf(figures: Figures): readonly string[] {
  const inView = (group: NeedGroup): string =>
    points(shareOf(outcomeRatio(figures, NEED_GROUPS[group], 'inView'), NaN));
  return [
    points(lossOf([figures])),
    points(shareOf(netCostRatio(figures), 1)),
    points(shareOf(costRatio(figures, CACHE_READ_PRICE, false), 1)),
    inView('edits'),
    inView('identifiers'),
    inView('quotes'),
    points(savedShare(figures)),
  ];
}

function points(share: number): string {
  return Number.isNaN(share) ? '–' : (100 * share).toFixed(1);
}
