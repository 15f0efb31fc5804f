// Renders an analysis as text.

import {
  renderCategories,
  renderLargestStaying,
  renderRules,
  renderSessionFigures,
  renderStays,
  renderTools,
} from './analysis-tables.js';
import type { AnalysisReport, SessionAnalysis } from './analysis-report.js';
import { groupBy, sumOf } from '../measure/aggregate.js';
import { moneySentences } from '../replay/money.js';
import { renderUnread, stopSentences } from '../replay/render-folder.js';
import { renderWarnings } from '../replay/render-report.js';
import { reportHead, sectionsText } from '../terminal/terminal-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount, formatNumberOf, formatShare, wrap } from '../terminal/text-layout.js';

/** Returns the analysis as text that ends with a line break. */
export function renderAnalysis(report: AnalysisReport, layout: Layout): string {
  return sectionsText([
    headline(report, layout),
    ...(report.isFolder && report.sessions.length > 0
      ? [renderSessionFigures(report, layout)]
      : []),
    ...(report.totals.entries === 0
      ? [['There are no entries: nothing to analyze.']]
      : figureSections(report, layout)),
    renderWarnings(warningsOf(report), layout),
    renderUnread(report.path, report.unread, layout),
  ]);
}

function headline(report: AnalysisReport, layout: Layout): readonly string[] {
  const { width } = layout;
  const { path, isFolder, sessions, totals } = report;
  const formats = new Set(sessions.map(({ format }) => format));
  const facts = [
    ...(isFolder ? [formatNumberOf(sessions.length, 'session')] : []),
    ...(formats.size > 1 ? [formatNumberOf(formats.size, 'format')] : formats),
    formatNumberOf(totals.entries, 'entry', 'entries'),
    `${formatCount(totals.tokens.without)} tokens`,
  ];
  return [
    ...reportHead('analyze', path, facts, layout),
    ...(totals.entries === 0 ? [] : verdict(report).flatMap((text) => wrap(text, width))),
  ];
}

/** Sums up the analysis in a few sentences. */
function verdict({ isFolder, sessions, totals, settings }: AnalysisReport): readonly string[] {
  const { tokens, input, modelCalls } = totals;
  return [
    `Pruning reclaims ${formatShare(tokens.without - tokens.with, tokens.without)}: ` +
      `${formatCount(tokens.without - tokens.with)} tokens go, ${formatCount(tokens.with)} stay.`,
    modelCalls === 0
      ? 'There are no model calls, so nothing is sent.'
      : `Over ${formatNumberOf(modelCalls, 'model call')}, ${formatCount(input.with)} tokens are sent ` +
        `instead of ${formatCount(input.without)}: ${formatShare(input.without - input.with, input.without)} saved.`,
    ...moneySentences(
      totals.money,
      sessions.map(({ money }) => money.price),
    ),
    ...(isFolder ? windowsOf(sessions, settings.contextLimit) : sessions.flatMap(windowOf)),
    ...(isFolder
      ? stopSentences(sessions.map(({ stop }) => stop))
      : sessions.flatMap(({ stop }) => (stop === null ? [] : [`Stopped: ${printable(stop)}`]))),
  ];
}

function windowOf({ end, contextLimit: limit }: SessionAnalysis): readonly string[] {
  return [
    `The history ends at ${formatShare(end.without, limit)} of a window of ${formatCount(limit)} ` +
      `without pruning, ${formatShare(end.with, limit)} with it.`,
  ];
}

function windowsOf(sessions: readonly SessionAnalysis[], limit: number | null): readonly string[] {
  const over = (side: 'without' | 'with'): number =>
    sessions.filter(({ end, contextLimit }) => end[side] > contextLimit).length;
  const window = limit === null ? 'the window of its model' : `a window of ${formatCount(limit)}`;
  if (over('without') === 0) return [`All fit ${window.replace('its', 'their')}.`];
  return [
    `${window.replace(/^./, (first) => first.toUpperCase())} is too small for ` +
      `${formatCount(over('without'))} of the sessions without pruning, for ${formatCount(over('with'))} with it.`,
  ];
}

function figureSections(
  { isFolder, sessions, totals }: AnalysisReport,
  layout: Layout,
): readonly (readonly string[])[] {
  const [session] = sessions;
  return [
    renderCategories(totals, layout),
    renderTools(totals, layout),
    renderRules(totals, layout),
    renderStays(totals, layout),
    ...(isFolder || session === undefined
      ? []
      : [renderLargestStaying(session.largestStaying, layout)]),
  ];
}

function warningsOf({ isFolder, sessions }: AnalysisReport): Parameters<typeof renderWarnings>[0] {
  const groups = groupBy(
    sessions.flatMap(({ warnings }) => warnings),
    ({ message }) => message,
  );
  return Array.from(groups, ([message, group]) => ({
    message,
    count: sumOf(group, ({ count }) => count),
    // Line numbers mean nothing without the file.
    places: isFolder ? [] : group.flatMap(({ places }) => places),
  }));
}
