// Renders a chart of tokens per model call: sent tokens as solid bars, saved tokens as shaded blocks above them. Readable without
// colours.

import { maxOf } from '../measure/aggregate.js';
import type { TokenPair } from './money.js';
import { formatCompact, formatCount } from '../terminal/text-layout.js';
import type { Layout, Paint } from '../terminal/terminal-layout.js';

const ROWS = 10;

/** Maximum columns per model call. */
const MAX_COLUMNS_PER_CALL = 6;

/** Bars from one to eight eighths of a row. */
const EIGHTHS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Renders the calls in at most `width` columns; no lines if there are none. */
export function renderChart(
  calls: readonly TokenPair[],
  { width, paint }: Layout,
): readonly string[] {
  const top = niceCeiling(maxOf(calls.flatMap((call) => [call.without, call.with])));
  if (top === 0) return [];
  const labels = Array.from({ length: ROWS + 1 }, (_, row) =>
    row % 5 === 0 ? formatCompact((top * (ROWS - row)) / ROWS) : '',
  );
  const margin = Math.max(...labels.map((label) => label.length));
  const columns = sampled(calls, width - margin - 2);
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const cells = columns.map((call) => cellOf(call, ROWS - 1 - row, top / ROWS));
    const axis = labels[row] === '' ? '│' : '┤';
    return `${(labels[row] ?? '').padStart(margin)} ${axis}${paintRuns(cells, paint)}`.trimEnd();
  });
  return [
    ...lines,
    `${(labels[ROWS] ?? '').padStart(margin)} └${'─'.repeat(columns.length)}`,
    `${' '.repeat(margin + 2)}${caption(calls.length, columns.length)}`,
  ];
}

/** Labels the first and the last call, and the axis if there is room. */
function caption(calls: number, width: number): string {
  if (calls === 1) return '1';
  const last = formatCount(calls);
  const between = width - 1 - last.length;
  const name = between >= 14 ? 'model call' : '';
  const left = Math.floor((between - name.length) / 2);
  return `1${' '.repeat(Math.max(1, left))}${name}${last.padStart(between - left - name.length + last.length)}`;
}

/** Spreads calls over columns, or picks one per column if there are more calls than columns. */
function sampled(calls: readonly TokenPair[], width: number): readonly TokenPair[] {
  const length = Math.min(calls.length * MAX_COLUMNS_PER_CALL, width);
  return Array.from({ length }, (_, column) => {
    // `ceil` guarantees that the last column shows the last call.
    const at = Math.ceil(((column + 1) * calls.length) / length) - 1;
    return calls[at] ?? { without: 0, with: 0 };
  });
}

/** Returns the cell of a call in a row, counted from below. A row is `step` tokens high. */
function cellOf(call: TokenPair, row: number, step: number): string {
  const filled = Math.round((call.with / step - row) * 8);
  const bar = EIGHTHS[Math.min(filled, 8) - 1];
  if (bar !== undefined) return bar;
  return call.without / step - row >= 0.5 ? '░' : ' ';
}

function paintRuns(cells: readonly string[], paint: Paint): string {
  return cells
    .join('')
    .replace(/[▁-█]+/g, (bars) => paint('cyan', bars))
    .replace(/░+/g, (shade) => paint('dim', shade));
}

/** Rounds up to an even number of at most two significant digits, so that half of it is a round number. */
function niceCeiling(value: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit / 2) * unit * 2;
}
