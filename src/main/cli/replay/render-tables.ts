// The tables of the report: what was removed by which rule, and the largest items.

import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import { sumOf } from '../measure/aggregate.js';
import { itemOf, itemsOf } from '../measure/attribution.js';
import type { ReclaimedItem, ReplayReport, RuleTotal, TokenPair } from './replay-report.js';
import { printable } from '../terminal/terminal-text.js';
import {
  formatCount,
  formatShare,
  joined,
  shortenEnd,
  shortenStart,
  wrap,
} from '../terminal/text-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';

/** Renders the tokens at the end and over all calls, without and with ctxfold. */
export function renderTokens(report: ReplayReport, layout: Layout): readonly string[] {
  const { paint } = layout;
  const { end, input, summarizer } = report;
  const row = (name: string, { without, with: left }: TokenPair): readonly string[] => [
    name,
    formatCount(without),
    formatCount(left),
    paint('bold', formatShare(without - left, without)),
  ];
  const head = ['tokens', 'without', 'with', 'saved'];
  const rows = [
    row('history at the end', end.tokens),
    row('sent, all model calls', input),
    ...(summarizer.requests === 0
      ? []
      : [row('sent for summaries', { without: 0, with: summarizer.inputTokens })]),
  ];
  return renderTable(head, rows, layout);
}

/** Renders what each rule removed. */
export function renderTotals(
  totals: readonly RuleTotal[],
  tokensWithout: number,
  layout: Layout,
): readonly string[] {
  const rows = totals.map(({ rule, items, tokens }) => [
    itemsOf(rule),
    formatCount(items),
    formatCount(tokens),
    formatShare(tokens, tokensWithout),
  ]);
  const head = ['reclaimed', 'items', 'tokens', 'of all'];
  return renderTable(head, rows, layout);
}

const MAX_TOOL_LENGTH = 16;
const MIN_SUBJECT_LENGTH = 12;

/** Renders the largest items. */
export function renderLargest(items: readonly ReclaimedItem[], layout: Layout): readonly string[] {
  const { width } = layout;
  const head = ['tokens', 'call', 'largest items', 'tool'];
  const rows = items.map((item) => [
    formatCount(item.tokens),
    item.modelCall === null ? 'end' : formatCount(item.modelCall),
    itemOf(item.rule),
    shortenEnd(printable(item.tool ?? `(${item.speaker})`), MAX_TOOL_LENGTH),
  ]);
  const left = Math.max(MIN_SUBJECT_LENGTH, width - tableWidth([head, ...rows]));
  return renderTable(
    [...head, 'about'],
    rows.map((row, at) => {
      const { path, parameter } = items[at] ?? NO_SUBJECT;
      return [...row, subjectText(path, parameter, left)];
    }),
    layout,
    ['right', 'right', 'left', 'left', 'left'],
  );
}

const NO_SUBJECT = { path: null, parameter: null };

/** Returns the end of a path, or else the start of a text. */
export function subjectText(path: string | null, text: string | null, maxLength: number): string {
  return path === null
    ? shortenEnd(printable(text ?? ''), maxLength)
    : shortenStart(printable(path), maxLength);
}

const GAP = '  ';

/** Returns the width of a table in columns, with a gap behind it. */
export function tableWidth(rows: readonly (readonly string[])[]): number {
  return sumOf(
    (rows[0] ?? []).keys(),
    (column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)) + GAP.length,
  );
}

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '' },
  middle: GAP,
};

/**
 * Renders a table without borders and with a dim head. If it is wider than `width`, each row becomes its first left-aligned
 * cell, with the other cells below it.
 *
 * @param colAligns @default the first column to the left
 */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  layout: Layout,
  colAligns: readonly Table.HorizontalAlignment[] = head.map((_, at) =>
    at === 0 ? 'left' : 'right',
  ),
): readonly string[] {
  const { width, paint } = layout;
  const table = new Table({
    chars: NO_LINES,
    colAligns: [...colAligns],
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(
    head.map((name) => paint('dim', name)),
    ...rows.map((row) => [...row]),
  );
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const fits = lines.every((line) => stripVTControlCharacters(line).length <= width);
  return fits ? lines : stacked(head, rows, Math.max(0, colAligns.indexOf('left')), layout);
}

function stacked(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  nameAt: number,
  { width, paint }: Layout,
): readonly string[] {
  return [
    ...wrap(head[nameAt] ?? '', width).map((line) => paint('dim', line)),
    ...rows.flatMap((row) => {
      const cells = row.map((cell) => stripVTControlCharacters(cell).trim());
      const facts = cells.flatMap((cell, at) => {
        // Columns without a name are bars.
        if (at === nameAt || cell === '' || head[at] === '') return [];
        return [`${head[at] ?? ''} ${cell}`];
      });
      return [
        ...wrap(cells[nameAt] ?? '', width),
        ...joined(facts, width - GAP.length).map((line) => paint('dim', GAP + line)),
      ];
    }),
  ];
}
