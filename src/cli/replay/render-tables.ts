// The tables of the report: what was removed by which rule, and the largest items.

import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sumOf } from '../measure/aggregate.js';
import { itemOf, itemsOf } from '../measure/attribution.js';
import { NO_SUBJECT } from '../measure/call-subject.js';
import type { Subject } from '../measure/call-subject.js';
import type { ReclaimedItem, ReplayReport, RuleTotal } from './replay-report.js';
import type { TokenPair } from './money.js';
import { printable } from '../terminal/terminal-text.js';
import {
  columnsOf,
  formatCount,
  formatShare,
  joined,
  moreLines,
  shortenEnd,
  shortenStart,
  wrap,
} from '../terminal/text-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';

/** Renders the tokens at the end and over all calls, without and with ctxfold. */
export function renderTokens(report: ReplayReport, layout: Layout): readonly string[] {
  const { paint } = layout;
  const { end, tokens, input, summarizer } = report;
  const row = (name: string, { without, with: left }: TokenPair): readonly string[] => [
    name,
    formatCount(without),
    formatCount(left),
    paint('bold', formatShare(without - left, without)),
  ];
  const head = ['tokens', 'without', 'with', 'saved'];
  const rows = [
    // A session that the agent compacted by itself ends with a part of its history.
    ...(tokens.without === end.tokens.without ? [] : [row('history, in all', tokens)]),
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
export const MIN_SUBJECT_LENGTH = 10;

/** Renders the largest items. */
export function renderLargest(items: readonly ReclaimedItem[], layout: Layout): readonly string[] {
  const head = ['tokens', 'call', 'largest items', 'tool'];
  const rows = items.map((item) => [
    formatCount(item.tokens),
    item.modelCall === null ? 'end' : formatCount(item.modelCall),
    itemOf(item.rule),
    shortenEnd(printable(item.tool ?? `(${item.speaker})`), MAX_TOOL_LENGTH),
  ]);
  const abouts = items.map(({ path, parameter }) => ({ path, excerpt: parameter }));
  return renderWithSubjects(head, rows, abouts, layout, ['right', 'right', 'left', 'left']);
}

/** Renders a table with subjects in a last column, which takes the remaining width. */
export function renderWithSubjects(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  subjects: readonly (Subject | null)[],
  layout: Layout,
  aligns: readonly ('left' | 'right')[] = ['left'],
): readonly string[] {
  const { width } = layout;
  const left = width - tableWidth([head, ...rows]);
  const room = left < MIN_SUBJECT_LENGTH ? width - STACKED_MARGIN : left;
  return renderTable(
    [...head, 'about'],
    rows.map((row, at) => [...row, subjectText(subjects[at] ?? null, room)]),
    layout,
    [...head.map((_, at) => aligns[at] ?? 'right'), 'left'],
  );
}

/** Width beside a subject if the table does not fit and its cells are stacked. */
const STACKED_MARGIN = 10;

/** Returns the end of a path, or else the start of an excerpt. */
export function subjectText(subject: Subject | null, maxLength: number): string {
  const { path, excerpt } = subject ?? NO_SUBJECT;
  return path === null
    ? shortenEnd(printable(excerpt ?? ''), maxLength)
    : shortenStart(printable(path), maxLength);
}

/** Columns of a table of sessions, besides their names. */
interface SessionColumns<Session> {
  readonly head: readonly string[];
  readonly aligns?: readonly ('left' | 'right')[];
  readonly cellsOf: (session: Session) => readonly string[];
  readonly total: readonly string[];
}

/** Longer lists would bury the totals. */
const MAX_SESSIONS = 50;

/** Renders the first sessions of a folder and the sum of all. Names take the remaining width. */
export function renderSessions<Session extends { readonly file: string }>(
  folder: string,
  sessions: readonly Session[],
  { head, aligns = [], cellsOf, total }: SessionColumns<Session>,
  layout: Layout,
): readonly string[] {
  const { listWidth: width, paint } = layout;
  const shown = sessions.slice(0, MAX_SESSIONS);
  const rows = shown.map(cellsOf);
  const room = Math.max(MIN_SUBJECT_LENGTH, width - tableWidth([head, ...rows, total]));
  const table = renderTable(
    ['session', ...head],
    [
      ...shown.map(({ file }, at) => [
        shortenStart(printable(relative(folder, file)), room),
        ...(rows[at] ?? []),
      ]),
      ['all sessions', ...total].map((cell) => paint('bold', cell)),
    ],
    { ...layout, width },
    ['left', ...aligns],
  );
  const more = moreLines(sessions.length - MAX_SESSIONS, 'more sessions', 0, width);
  return [...table, ...more.map((line) => paint('dim', line))];
}

const GAP = '  ';

/** Returns the width of a table in columns, with a gap behind it. */
function tableWidth(rows: readonly (readonly string[])[]): number {
  return sumOf(widthsOf(rows), (width) => width + GAP.length);
}

/** Returns the width of each column. */
function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => shownColumns(row[at] ?? ''))),
  );
}

function shownColumns(cell: string): number {
  return columnsOf(stripVTControlCharacters(cell));
}

/**
 * Renders a table without borders and with a dim head. If it is wider than `width`, each row becomes its first left-aligned
 * cell, with the other cells below it.
 *
 * @param aligns of the first columns; the others are aligned to the right @default the first to the left
 */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  layout: Layout,
  aligns: readonly ('left' | 'right')[] = ['left'],
): readonly string[] {
  const { width, paint } = layout;
  const all = [head.map((name) => paint('dim', name)), ...rows];
  const widths = widthsOf(all);
  const lines = all.map((row) =>
    row
      .map((cell, at) => {
        const space = ' '.repeat((widths[at] ?? 0) - shownColumns(cell));
        return aligns[at] === 'left' ? cell + space : space + cell;
      })
      .join(GAP)
      .trimEnd(),
  );
  const fits = lines.every((line) => shownColumns(line) <= width);
  return fits ? lines : stacked(head, rows, Math.max(0, aligns.indexOf('left')), layout);
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
        // Leave out columns without a name: they contain bars.
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
