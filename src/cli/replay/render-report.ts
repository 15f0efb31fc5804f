// Renders the report of a replay as text.

import { sumOf } from '../measure/aggregate.js';
import { stopMessage } from './replay-report.js';
import type { ReplayReport, ReplaySettings, WarningGroup } from './replay-report.js';
import { moneySentences } from './money.js';
import { renderChart } from './render-chart.js';
import { renderRun } from './render-run.js';
import { renderLargest, renderTokens, renderTotals } from './render-tables.js';
import { reportHead, sectionsText } from '../terminal/terminal-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount, formatNumberOf, marked, moreLines, wrap } from '../terminal/text-layout.js';

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
  const { file, format, entries, playedEntries, modelCalls } = report;
  const played = playedEntries < entries ? `${formatCount(playedEntries)} of ` : '';
  const facts = [
    format,
    played + formatNumberOf(entries, 'entry', 'entries'),
    formatNumberOf(modelCalls.length, 'model call'),
    ...settingsOf(report.settings),
  ];
  return reportHead('replay', file, facts, layout);
}

function settingsOf(settings: ReplaySettings): readonly string[] {
  const { threshold, preserveThreshold, topPreserveThreshold, recencyRetention, threads } =
    settings;
  return [
    `context window ${formatCount(settings.contextLimit)}`,
    settings.strategy,
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
      ? [wrap('Nothing was stale and no compression was due: the history is unchanged.', width)]
      : [renderTotals(reclaimed, tokens.without, layout)]),
    ...(largest.length === 0 ? [] : [renderLargest(largest, layout)]),
    renderRun(report, layout),
  ];
}

/** Renders what the numbers mean for the context window. */
function verdict(report: ReplayReport, { width, paint }: Layout): readonly string[] {
  const { firstCallOverLimit, modelCalls, settings } = report;
  const sentences: string[] = [];
  const stop = stopMessage(report);
  if (stop !== null) {
    sentences.push(`Stopped before model call ${modelCalls.length + 1}: ${printable(stop)}`);
  }
  if (firstCallOverLimit !== null) {
    sentences.push(
      `Without ctxfold, model call ${firstCallOverLimit} would not have fitted the window of ` +
        `${formatCount(settings.contextLimit)} tokens.`,
    );
  }
  return sentences.flatMap((text) => wrap(text, width)).map((line) => paint('yellow', line));
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
