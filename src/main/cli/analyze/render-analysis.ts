// The analysis for a person, as lines of at most the given width. Prints nothing itself.

import { relative } from 'node:path';
import {
  renderCategories,
  renderLargestStaying,
  renderRules,
  renderSessions,
  renderStays,
  renderTools,
} from './analysis-tables.js';
import type { AnalysisReport, UnreadFile } from './analysis-report.js';
import { groupBy } from '../measure/group-by.js';
import { renderWarnings } from '../replay/render-report.js';
import type { RenderOptions } from '../replay/render-report.js';
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

const MIN_WIDTH = 80;
const MAX_WIDTH = 100;
const MAX_LIST_WIDTH = 160;

/** Returns the analysis as text that ends with a line break. */
export function renderAnalysis(report: AnalysisReport, options: RenderOptions): string {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, options.width));
  // Names of files tell most by their length.
  const listWidth = Math.min(MAX_LIST_WIDTH, options.width);
  const paint = createPaint(options.isColoured);
  const sections = [
    headline(report, width, paint),
    ...(report.isFolder ? folderSections(report, Math.max(width, listWidth), paint) : []),
    ...(report.totals.entries === 0
      ? [['There are no entries: there is nothing to analyze.']]
      : figureSections(report, width, paint)),
    renderWarnings(warningsOf(report), width, paint),
    renderUnread(report, width, paint),
  ].filter((lines) => lines.length > 0);
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function headline(report: AnalysisReport, width: number, paint: Paint): readonly string[] {
  const { path, isFolder, sessions, totals } = report;
  const formats = new Set(sessions.map(({ format }) => format));
  const facts = [
    ...(isFolder ? [formatNumberOf(sessions.length, 'session')] : []),
    ...(formats.size > 1 ? [formatNumberOf(formats.size, 'format')] : formats),
    formatNumberOf(totals.entries, 'entry', 'entries'),
    `${formatCount(totals.tokens.without)} tokens`,
  ];
  return [
    paint('bold', `ctxfold analyze ${shortenStart(printable(path), width - 16)}`),
    ...joined(facts, width).map((line) => paint('dim', line)),
    ...(totals.entries === 0 ? [] : wrap(verdict(report), width)),
  ];
}

/** What it comes to, in a sentence. */
function verdict({ isFolder, sessions, totals, settings }: AnalysisReport): string {
  const { without, with: left } = totals.tokens;
  const limit = settings.contextLimit;
  const saving =
    `Pruning reclaims ${formatShare(without - left, without)}: ` +
    `${formatCount(without - left)} tokens go, ${formatCount(left)} stay.`;
  if (!isFolder) {
    return (
      `${saving} That is ${formatShare(without, limit)} of a window of ${formatCount(limit)} ` +
      `without pruning, ${formatShare(left, limit)} with it.`
    );
  }
  const over = (side: 'without' | 'with'): number =>
    sessions.filter(({ tokens }) => tokens[side] > limit).length;
  if (over('without') === 0) return `${saving} All fit a window of ${formatCount(limit)}.`;
  return (
    `${saving} A window of ${formatCount(limit)} is too small for ${formatCount(over('without'))} ` +
    `of the sessions without pruning, for ${formatCount(over('with'))} with it.`
  );
}

function figureSections(
  { isFolder, sessions, totals }: AnalysisReport,
  width: number,
  paint: Paint,
): readonly (readonly string[])[] {
  const [session] = sessions;
  return [
    renderCategories(totals, paint),
    renderTools(totals, width, paint),
    renderRules(totals, width, paint),
    renderStays(totals, paint),
    ...(isFolder || session === undefined
      ? []
      : [renderLargestStaying(session.largestStaying, width, paint)]),
  ];
}

function folderSections(
  { path, sessions, totals }: AnalysisReport,
  width: number,
  paint: Paint,
): readonly (readonly string[])[] {
  if (sessions.length === 0) return [];
  return [renderSessions(sessions, totals, ({ file }) => relative(path, file), width, paint)];
}

function warningsOf({ isFolder, sessions }: AnalysisReport): Parameters<typeof renderWarnings>[0] {
  const groups = groupBy(
    sessions.flatMap(({ warnings }) => warnings),
    ({ message }) => message,
  );
  return Array.from(groups, ([message, group]) => ({
    message,
    count: group.reduce((sum, { count }) => sum + count, 0),
    // Lines of which file nobody could tell.
    places: isFolder ? [] : group.flatMap(({ places }) => places),
  }));
}

/** Files of one reason that are named. */
const MAX_UNREAD = 20;

/** Files that are no sessions, by reason. */
function renderUnread(
  { path, unread }: AnalysisReport,
  width: number,
  paint: Paint,
): readonly string[] {
  if (unread.length === 0) return [];
  const groups = groupBy(unread, ({ reason }: UnreadFile) => printable(reason));
  return [
    paint('yellow', `${formatNumberOf(unread.length, 'file')} left out`),
    ...Array.from(groups).flatMap(([reason, files]) => [
      ...wrap(`- ${reason}`, width - 2).map((line, at) => (at === 0 ? `  ${line}` : `    ${line}`)),
      ...files
        .slice(0, MAX_UNREAD)
        .map(({ file }) =>
          paint('dim', `      ${shortenStart(printable(relative(path, file)), width - 6)}`),
        ),
      ...(files.length > MAX_UNREAD
        ? [`      and ${formatCount(files.length - MAX_UNREAD)} more; --json lists all`]
        : []),
    ]),
  ];
}
