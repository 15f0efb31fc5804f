// The data of the page: the replay, its recording, and the labels of names.

import { getCompressionStrategy } from '../../strategies.js';
import { groupBy, maxOf, sumOf } from '../measure/aggregate.js';
import { itemOf, itemsOf } from '../measure/attribution.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { CATEGORIES, CATEGORY_NAMES } from '../measure/composition.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { formatChange, formatNumberOf } from '../terminal/text-layout.js';
import type { ChartData, ChartMark } from './chart-data.js';
import type { ReportArguments } from './report-command.js';
import type { ContentLabel } from '../terminal/content-label.js';
import { reclaimedBy } from '../replay/edit-row.js';
import type { EditRow } from '../replay/edit-row.js';
import type { EditCause } from '../replay/session-recorder.js';
import type { Recording } from '../replay/recording.js';
import type { EditPolicy } from '../../index.js';

/** The report of a session under one edit policy. */
export interface PolicyReport {
  readonly policy: EditPolicy;
  readonly report: ReplayReport;
}

/** The data of a page. */
export interface ReportPage {
  readonly title: string;
  /** The window that the user gave, in tokens; `null` if the session's model decided. */
  readonly contextLimit: number | null;
  readonly recording: Recording;
  readonly label: ContentLabel;
  readonly rows: readonly EditRow[];
  readonly chart: ChartData;
  /** The compared edit policies; fewer than two get no table. */
  readonly policies: readonly PolicyReport[];
}

/** Creates the data of a page. */
export function createReportPage(
  recording: Recording,
  label: ContentLabel,
  policies: readonly PolicyReport[],
  given: Pick<ReportArguments, 'title' | 'contextLimit'>,
): ReportPage {
  const rows = shownRows(recording, label);
  const chart = chartOf(recording, rows);
  const { title = label.ofPath(recording.report.file), contextLimit = null } = given;
  return { title, contextLimit, recording, label, rows, chart, policies };
}

/** Applies the label to the rows. The text of a reason may quote any name, so all texts are dropped if any name is hidden. */
function shownRows({ rows, names }: Recording, label: ContentLabel): readonly EditRow[] {
  const areAllShown = Array.from(names).every((name) => label.ofName(name) === name);
  return rows.map((row) => ({
    ...row,
    why: areAllShown || row.why === null ? row.why : { ...row.why, text: '' },
    tool: row.tool === null ? null : label.ofName(row.tool),
    callId: row.callId === null ? null : label.ofName(row.callId),
  }));
}

/** Returns the compression threshold in tokens. */
function thresholdTokens({ settings }: ReplayReport): number {
  const { trigger } = getCompressionStrategy(settings.strategy);
  return Math.round(settings.contextLimit * (settings.threshold ?? trigger.defaultThreshold));
}

function chartOf({ report: replay, turns }: Recording, rows: readonly EditRow[]): ChartData {
  const preflights = [...replay.modelCalls, replay.end].slice(0, turns.length);
  const layers = CATEGORIES.map((id, at) => ({
    id,
    label: CATEGORY_NAMES[id],
    tokens: turns.map((tokens) => tokens[at] ?? 0),
  }));
  const threshold = thresholdTokens(replay);
  return {
    turns: preflights.map((_, at) => (at < replay.modelCalls.length ? `${at + 1}` : 'end')),
    layers: layers.filter(({ tokens }) => tokens.some((count) => count !== 0)),
    without: preflights.map(({ tokens }) => tokens.without),
    thresholdTokens: threshold,
    topTokens: topOf(
      preflights.flatMap(({ tokens }) => [tokens.without, tokens.with]),
      threshold,
    ),
    marks: marksOf(rows),
  };
}

/** The chart shows the threshold only up to this multiple of the highest turn. */
const MAX_STRETCH = 1.6;

/** The scale exceeds the highest point by this factor. */
const HEADROOM = 1.06;

function topOf(tokens: readonly number[], threshold: number): number {
  const peak = Math.max(1, maxOf(tokens));
  return HEADROOM * (threshold <= peak * MAX_STRETCH ? Math.max(peak, threshold) : peak);
}

function marksOf(rows: readonly EditRow[]): readonly ChartMark[] {
  const marks = groupBy(rows, ({ turn, cause }) => `${turn} ${cause.step}`);
  return Array.from(marks.values(), (mark) => {
    const [{ turn, cause }] = mark;
    const byRule = groupBy<EditRow, ReclaimRule>(mark, ({ rule }) => rule);
    const parts = Array.from(byRule, ([rule, those]) =>
      formatNumberOf(
        sumOf(those, ({ items }) => items),
        itemOf(rule),
        itemsOf(rule),
      ),
    );
    const change = formatChange(-sumOf(mark, reclaimedBy));
    const text = `${reasonOfStep(cause)}: ${parts.join(', ')}, ${change} tokens`;
    return { at: turn, kind: cause.step, text };
  });
}

/** Returns what an edit was and why it landed. */
function reasonOfStep(cause: EditCause): string {
  switch (cause.step) {
    case 'pruned':
      return `pruned${LANDINGS[cause.reason]}`;
    case 'compressed':
      return `compressed by ${cause.strategy}, over the threshold`;
    case 'fitted':
      return 'made to fit the window';
  }
}

const LANDINGS: Readonly<Record<Extract<EditCause, { step: 'pruned' }>['reason'], string>> = {
  'every-turn': '',
  'reclaims-enough': ' because it reclaims enough',
  'cache-cold': ' because the cache was cold',
  'price-step': ' to get below a price step',
  'sent-before': ' because it was sent that way before',
  threshold: ' at the threshold',
  reasoning: ' because another model binds it',
  unsent: ' before it was sent',
};
