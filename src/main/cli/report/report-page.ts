// What the page shows, as one value: the replay, what was recorded of it, and how things are named.

import { getCompressionStrategy, parseCompressionStrategyName } from '../../../strategies.js';
import { itemOf, itemsOf } from '../measure/attribution.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { CATEGORIES } from '../measure/composition.js';
import type { Category } from '../measure/composition.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { formatCount, formatNumberOf } from '../terminal/text-layout.js';
import type { ChartData, ChartMark } from './chart-data.js';
import type { ContentLabel } from '../terminal/content-label.js';
import { rowsOf } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import type { EditCause, Recording } from './session-recorder.js';

/** What a page is made from. */
export interface ReportPage {
  readonly title: string;
  readonly replay: ReplayReport;
  readonly recording: Recording;
  readonly label: ContentLabel;
  readonly rows: readonly EditRow[];
  readonly chart: ChartData;
}

/** The layers of chart and bar: an id that names a colour, a label, and what it adds up. */
const LAYERS: readonly {
  readonly id: string;
  readonly label: string;
  readonly categories: readonly Category[];
}[] = [
  { id: 'user', label: 'user', categories: ['user-text'] },
  { id: 'assistant', label: 'assistant', categories: ['assistant-text'] },
  { id: 'thinking', label: 'thinking', categories: ['thinking'] },
  { id: 'calls', label: 'tool calls', categories: ['tool-call'] },
  { id: 'results', label: 'tool results', categories: ['tool-result'] },
  { id: 'summaries', label: 'summaries', categories: ['summary'] },
  { id: 'other', label: 'other', categories: ['media', 'other'] },
];

/** Puts a page together. */
export function createReportPage(
  replay: ReplayReport,
  recording: Recording,
  label: ContentLabel,
  title: string | undefined,
): ReportPage {
  const rows = shownRows(recording, label);
  return {
    title: title ?? label.ofPath(replay.file),
    replay,
    recording,
    label,
    rows,
    chart: chartOf(replay, recording, rows),
  };
}

/** A reason names the call that made something stale: it is told where no name of the session has to be hidden. */
function shownRows({ edits, names }: Recording, label: ContentLabel): readonly EditRow[] {
  const areAllShown = Array.from(names).every((name) => label.ofName(name) === name);
  return rowsOf(edits).map((row) => ({
    ...row,
    tool: row.tool === null ? null : label.ofName(row.tool),
    callId: row.callId === null ? null : label.ofName(row.callId),
    why: areAllShown ? row.why : null,
  }));
}

/** The threshold at which the history is compressed, in tokens. */
function thresholdTokens({ settings }: ReplayReport): number {
  const { trigger } = getCompressionStrategy(parseCompressionStrategyName(settings.strategy));
  return Math.round(settings.contextLimit * (settings.threshold ?? trigger.defaultThreshold));
}

function chartOf(replay: ReplayReport, { turns }: Recording, rows: readonly EditRow[]): ChartData {
  const windows = [...replay.modelCalls, replay.end].slice(0, turns.length);
  const layers = LAYERS.map(({ id, label, categories }) => ({
    id,
    label,
    tokens: turns.map((tokens) =>
      categories.reduce((sum, category) => sum + (tokens[CATEGORIES.indexOf(category)] ?? 0), 0),
    ),
  }));
  const threshold = thresholdTokens(replay);
  return {
    turns: windows.map((_, at) => (at < replay.modelCalls.length ? `${at + 1}` : 'end')),
    layers: layers.filter(({ tokens }) => tokens.some((count) => count !== 0)),
    without: windows.map(({ tokens }) => tokens.without),
    thresholdTokens: threshold,
    topTokens: topOf(
      windows.flatMap(({ tokens }) => [tokens.without, tokens.with]),
      threshold,
    ),
    marks: marksOf(rows),
  };
}

/** How far above all turns a threshold may be to be on the chart, as a share of the highest. */
const MAX_STRETCH = 1.6;

/** Room above the highest point. */
const HEADROOM = 1.06;

function topOf(tokens: readonly number[], threshold: number): number {
  const peak = Math.max(1, ...tokens);
  return HEADROOM * (threshold <= peak * MAX_STRETCH ? Math.max(peak, threshold) : peak);
}

function marksOf(rows: readonly EditRow[]): readonly ChartMark[] {
  const marks = new Map<
    string,
    { row: EditRow; tokens: number; items: Map<ReclaimRule, number> }
  >();
  for (const row of rows) {
    const key = `${row.turn} ${row.cause.step}`;
    const mark = marks.get(key) ?? { row, tokens: 0, items: new Map<ReclaimRule, number>() };
    mark.tokens += row.tokensBefore - row.tokensAfter;
    mark.items.set(row.rule, (mark.items.get(row.rule) ?? 0) + row.items);
    marks.set(key, mark);
  }
  return Array.from(marks.values(), ({ row, tokens, items }) => {
    const parts = Array.from(items, ([rule, count]) =>
      formatNumberOf(count, itemOf(rule), itemsOf(rule)),
    );
    return {
      at: row.turn,
      kind: row.cause.step,
      text: `${reasonOfStep(row.cause)}: ${parts.join(', ')}, ${formatChange(-tokens)} tokens`,
    };
  });
}

/** `−12`, `+3`, `0` */
export function formatChange(tokens: number): string {
  const sign = tokens < 0 ? '\u2212' : '+';
  return tokens === 0 ? '0' : sign + formatCount(Math.abs(tokens));
}

/** Returns what an edit was and why it landed when it did. */
export function reasonOfStep(cause: EditCause): string {
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
  'reclaims-enough': ' as it reclaims enough',
  'cache-cold': ' as the cache was cold',
  'sent-before': ' as it had been sent so before',
  threshold: ' at the threshold',
  unsent: ' before it was sent',
};

/** Returns why a rule took something, in sentences. */
export function reasonOfRow({ cause, why }: EditRow): string {
  if (cause.step !== 'pruned' || why === null) return reasonOfStep(cause);
  return cause.reason === 'every-turn' ? why : `${why} Pruned${LANDINGS[cause.reason]}.`;
}
