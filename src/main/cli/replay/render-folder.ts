// The report about a folder of replays for a person, as lines of at most the given width. Prints nothing itself.

import { relative } from 'node:path';
import { groupBy } from '../measure/aggregate.js';
import { reportWidth } from '../terminal/terminal-layout.js';
import type { RenderOptions } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import {
  createPaint,
  formatCount,
  formatNumberOf,
  formatShare,
  joined,
  shortenStart,
  wrap,
} from '../terminal/text-layout.js';
import type { Paint } from '../terminal/text-layout.js';
import type { FolderReplayReport } from './folder-report.js';
import { moneySentences } from './money.js';
import { renderTable } from './render-tables.js';
import type { TokenPair } from './replay-report.js';
import type { UnreadFile } from './session-files.js';

/** Columns beside the name of a session. */
const FIGURES_WIDTH = 52;
const MIN_NAME = 12;

/** Returns the report as text that ends with a line break. */
export function renderFolder(report: FolderReplayReport, options: RenderOptions): string {
  const { path, sessions, totals, unread } = report;
  const width = reportWidth(options);
  const paint = createPaint(options.isColoured);
  const facts = [
    formatNumberOf(sessions.length, 'session'),
    formatNumberOf(totals.entries, 'entry', 'entries'),
    formatNumberOf(totals.modelCalls, 'model call'),
  ];
  const sections = [
    [
      paint('bold', `ctxfold replay ${shortenStart(printable(path), width - 15)}`),
      ...joined(facts, width).map((line) => paint('dim', line)),
    ],
    ...(sessions.length === 0 ? [] : [renderSessions(report, width, paint)]),
    moneySentences(
      totals.money,
      sessions.map(({ money }) => money.price),
    ).flatMap((text) => wrap(text, width)),
    renderUnread(path, unread, width, paint),
  ].filter((lines) => lines.length > 0);
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderSessions(
  { path, sessions, totals }: FolderReplayReport,
  width: number,
  paint: Paint,
): readonly string[] {
  const row = (calls: number, input: TokenPair, end: TokenPair): readonly string[] => [
    formatCount(calls),
    formatCount(input.without),
    formatCount(input.with),
    formatShare(input.without - input.with, input.without),
    formatShare(end.without - end.with, end.without),
  ];
  const room = Math.max(MIN_NAME, width - FIGURES_WIDTH);
  const rows = sessions.map(({ file, modelCalls, input, end }) => [
    shortenStart(printable(relative(path, file)), room),
    ...row(modelCalls.length, input, end.tokens),
  ]);
  const total = ['all sessions', ...row(totals.modelCalls, totals.input, totals.end)];
  return renderTable(
    ['session', 'calls', 'sent without', 'with', 'saved', 'at the end'],
    [...rows, total.map((cell) => paint('bold', cell))],
    ['left', 'right', 'right', 'right', 'right', 'right'],
    width,
    paint,
  );
}

/** Files of one reason that are named. */
const MAX_UNREAD = 20;

/** The files of a folder that are no sessions, by reason; no lines when there are none. */
export function renderUnread(
  path: string,
  unread: readonly UnreadFile[],
  width: number,
  paint: Paint,
): readonly string[] {
  if (unread.length === 0) return [];
  const groups = groupBy(unread, ({ reason }: UnreadFile) => printable(reason));
  const more = (count: number): readonly string[] =>
    wrap(`and ${formatCount(count)} more; --json lists all`, width - 6).map(
      (line) => `      ${line}`,
    );
  return [
    paint('yellow', `${formatNumberOf(unread.length, 'file')} left out`),
    ...Array.from(groups).flatMap(([reason, files]) => [
      ...wrap(`- ${reason}`, width - 4).map((line, at) => (at === 0 ? `  ${line}` : `    ${line}`)),
      ...files
        .slice(0, MAX_UNREAD)
        .map(({ file }) =>
          paint('dim', `      ${shortenStart(printable(relative(path, file)), width - 6)}`),
        ),
      ...(files.length > MAX_UNREAD ? more(files.length - MAX_UNREAD) : []),
    ]),
  ];
}
