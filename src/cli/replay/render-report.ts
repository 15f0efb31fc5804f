// Renders the report of a replay as text.

import { groupBy, sumOf } from '../measure/aggregate.js';
import { stopMessage } from './replay-report.js';
import type { ReplayReport, ReplaySettings, WarningGroup } from './replay-report.js';
import { moneySentences } from './money.js';
import { renderChart } from './render-chart.js';
import { runFacts, sessionFacts, windowNotices } from './report-facts.js';
import { renderLargest, renderTokens, renderTotals } from './render-tables.js';
import { reportHead, sectionsText } from '../terminal/terminal-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import {
  formatCount,
  formatNumberOf,
  joined,
  marked,
  moreLines,
  wrap,
} from '../terminal/text-layout.js';

/** Returns the report as text that ends with a line break. */
export function renderReport(report: ReplayReport, layout: Layout): string {
  return sectionsText([
    headline(report, layout),
    ...(report.entries === 0
      ? [wrap('The transcript has no entries: nothing to replay.', layout.width)]
      : figures(report, layout)),
    renderWarnings(report.warnings, layout),
  ]);
}

function headline(report: ReplayReport, layout: Layout): readonly string[] {
  const facts = [...sessionFacts(report), ...settingsOf(report.settings)];
  return reportHead('replay', report.file, facts, layout);
}

function settingsOf(settings: ReplaySettings): readonly string[] {
  const { threshold, preserveThreshold, topPreserveThreshold, recencyRetention, threads } =
    settings;
  return [
    ...summarizerOf(settings),
    ...(threshold === null ? [] : [`threshold ${threshold}`]),
    ...(preserveThreshold === null ? [] : [`preserve threshold ${preserveThreshold}`]),
    ...(topPreserveThreshold === null ? [] : [`top preserve threshold ${topPreserveThreshold}`]),
    ...(recencyRetention === null ? [] : [`recency ${recencyRetention}`]),
    `offload ${settings.offload}`,
    ...(threads === null ? [] : [formatNumberOf(threads, 'thread')]),
  ];
}

function summarizerOf({ summarizer }: ReplaySettings): readonly string[] {
  if (summarizer === null) return [];
  return [
    `summaries by ${printable(summarizer.model)} at ${printable(summarizer.baseUrl)}`,
    `its window ${formatCount(summarizer.contextLimit)}`,
    ...(summarizer.fallbackToTruncation ? ['truncation if it fails'] : []),
  ];
}

function figures(report: ReplayReport, layout: Layout): readonly (readonly string[])[] {
  const { width } = layout;
  const { reclaimed, largest, tokens } = report;
  return [
    renderTokens(report, layout),
    moneySentences(report.money, [report.money.price]).flatMap((text) => wrap(text, width)),
    verdict(report, layout),
    chart(report, layout),
    ...(reclaimed.length === 0
      ? [wrap('Nothing was removed: the history is unchanged.', width)]
      : [renderTotals(reclaimed, tokens.without, layout)]),
    ...(largest.length === 0 ? [] : [renderLargest(largest, layout)]),
    renderRun(report, layout),
  ];
}

/** Renders what the numbers mean for the context window. */
function verdict(report: ReplayReport, { width, paint }: Layout): readonly string[] {
  return windowNotices(report, stopMessage(report))
    .flatMap((text) => wrap(printable(text), width))
    .map((line) => paint('yellow', line));
}

/** Width of title and legend on one line. */
const LEGEND_WIDTH = 60;

function chart({ modelCalls }: ReplayReport, layout: Layout): readonly string[] {
  const { width, paint } = layout;
  const lines = renderChart(
    modelCalls.map(({ tokens }) => tokens),
    layout,
  );
  if (lines.length === 0) return [];
  const legend = `${paint('cyan', '█')} sent with ctxfold  ${paint('dim', '░')} sent without`;
  const title = paint('dim', 'tokens per model call');
  return [...(width < LEGEND_WIDTH ? [title, legend] : [`${title}   ${legend}`]), ...lines];
}

const LABEL_WIDTH = 12;
const MAX_FAILURES = 3;

/** Renders how the replay went. */
function renderRun(report: ReplayReport, { width, paint }: Layout): readonly string[] {
  const kinds = Array.from(groupBy(report.failures, printable), ([message, { length }]) =>
    length === 1 ? message : `${message} (${formatCount(length)} times)`,
  );
  const facts = [
    ...runFacts(report),
    ...kinds.slice(0, MAX_FAILURES).map((kind) => ['failure', [kind]] as const),
  ];
  return [
    paint('dim', 'run'),
    ...facts.flatMap(([label, those]) =>
      marked(label.padEnd(LABEL_WIDTH), joined(those, width - LABEL_WIDTH)),
    ),
    ...moreLines(kinds.length - MAX_FAILURES, 'more', LABEL_WIDTH, width),
  ];
}

const MAX_WARNINGS = 8;

/** Renders the warnings of the transcript's reader; no lines if there are none. */
export function renderWarnings(
  groups: readonly WarningGroup[],
  { width, paint }: Layout,
): readonly string[] {
  if (groups.length === 0) return [];
  const total = sumOf(groups, ({ count }) => count);
  return [
    ...wrap(`${formatNumberOf(total, 'warning')} from the transcript reader`, width).map((line) =>
      paint('yellow', line),
    ),
    ...groups
      .slice(0, MAX_WARNINGS)
      .flatMap((group) => marked('  - ', wrap(warningText(group), width - 4))),
    ...moreLines(groups.length - MAX_WARNINGS, 'more kinds', 2, width),
  ];
}

function warningText({ message, count, places }: WarningGroup): string {
  const times = count === 1 ? '' : ` (${formatCount(count)} times)`;
  const where =
    places.length === 0 ? '' : ` [${places.join(', ')}${count > places.length ? ', …' : ''}]`;
  return printable(message + times + where);
}
