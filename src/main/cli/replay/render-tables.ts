// The tables of the report: what was removed by which rule, and the largest items.

import Table from 'cli-table3';
import { itemOf, itemsOf } from '../measure/attribution.js';
import type { ReclaimedItem, ReplayReport, RuleTotal, TokenPair } from './replay-report.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount, formatShare, shortenEnd, shortenStart } from '../terminal/text-layout.js';
import type { Paint } from '../terminal/text-layout.js';

/** Tokens at the end and over all calls, without and with ctxfold. */
export function renderTokens(report: ReplayReport, paint: Paint): readonly string[] {
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
  return renderTable(head, [...rows], ['left', 'right', 'right', 'right'], paint);
}

/** What each rule removed. */
export function renderTotals(
  totals: readonly RuleTotal[],
  tokensWithout: number,
  paint: Paint,
): readonly string[] {
  const rows = totals.map(({ rule, items, tokens }) => [
    itemsOf(rule),
    formatCount(items),
    formatCount(tokens),
    formatShare(tokens, tokensWithout),
  ]);
  const head = ['reclaimed', 'items', 'tokens', 'of all'];
  return renderTable(head, rows, ['left', 'right', 'right', 'right'], paint);
}

const MAX_TOOL_LENGTH = 16;
const MIN_SUBJECT_LENGTH = 12;

/** The largest items, in lines of at most `width`. */
export function renderLargest(
  items: readonly ReclaimedItem[],
  width: number,
  paint: Paint,
): readonly string[] {
  const head = ['tokens', 'call', 'largest items', 'tool'];
  const rows = items.map((item) => [
    formatCount(item.tokens),
    item.modelCall === null ? 'end' : formatCount(item.modelCall),
    itemOf(item.rule),
    shortenEnd(printable(item.tool ?? `(${item.speaker})`), MAX_TOOL_LENGTH),
  ]);
  const taken = head.reduce(
    (sum, name, column) =>
      sum + Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)) + GAP.length,
    0,
  );
  const left = Math.max(MIN_SUBJECT_LENGTH, width - taken);
  return renderTable(
    [...head, 'about'],
    rows.map((row, at) => [
      ...row,
      ...items.slice(at, at + 1).map((item) => subjectOf(item, left)),
    ]),
    ['right', 'right', 'left', 'left', 'left'],
    paint,
  );
}

function subjectOf({ path, parameter }: ReclaimedItem, maxLength: number): string {
  return path === null
    ? shortenEnd(printable(parameter ?? ''), maxLength)
    : shortenStart(printable(path), maxLength);
}

const GAP = '  ';

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '' },
  middle: GAP,
};

/** Lines of a table without borders: a dim head, then the rows. */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  colAligns: Table.HorizontalAlignment[],
  paint: Paint,
): readonly string[] {
  const table = new Table({
    chars: NO_LINES,
    colAligns,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(
    head.map((name) => paint('dim', name)),
    ...rows.map((row) => [...row]),
  );
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
