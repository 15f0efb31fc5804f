// Renders the tables of an analysis: by category, tool, rule, reason and session.

import { STAY_REASON_NAMES } from './analysis-report.js';
import type {
  AnalysisFigures,
  AnalysisReport,
  CategoryFigures,
  SessionAnalysis,
  StayFigures,
  StayingEntry,
} from './analysis-report.js';
import { itemsOf } from '../measure/attribution.js';
import type { Subject } from '../measure/call-subject.js';
import { CATEGORY_NAMES } from '../measure/composition.js';
import {
  MIN_SUBJECT_LENGTH,
  renderSessions,
  renderTable,
  renderWithSubjects,
  subjectText,
} from '../replay/render-tables.js';
import { printable } from '../terminal/terminal-text.js';
import {
  columnsOf,
  formatCompact,
  formatCount,
  formatShare,
  moreLines,
  shortenEnd,
  wrap,
} from '../terminal/text-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';

const BAR_WIDTH = 16;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Renders the composition of a history, without empty categories. */
export function renderCategories(
  { categories, tokens }: AnalysisFigures,
  layout: Layout,
): readonly string[] {
  const { paint } = layout;
  const rows = categories
    .filter((figures) => figures.blocks > 0 || figures.tokens > 0)
    .map((figures: CategoryFigures) => [
      CATEGORY_NAMES[figures.category],
      formatCount(figures.blocks),
      formatCount(figures.tokens),
      formatShare(figures.tokens, tokens.without),
      paint('cyan', bar(figures.tokens / Math.max(1, tokens.without))),
      // An edit changes how an entry's tokens are split over its blocks, so a category can appear to grow by a token.
      zeroAsDash(Math.max(0, figures.reclaimedTokens)),
    ]);
  const head = ['composition', 'blocks', 'tokens', 'of all', '', 'reclaimed'];
  return renderTable(head, rows, layout, ['left', 'right', 'right', 'right', 'left']);
}

/** Renders a share from 0 to 1 as a bar, with a resolution of an eighth of a column. */
function bar(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

const MAX_TOOLS = 15;
const MAX_TOOL_LENGTH = 18;

/** Renders the figures of each tool. */
export function renderTools({ tools, tokens }: AnalysisFigures, layout: Layout): readonly string[] {
  const { width, paint } = layout;
  if (tools.length === 0) return [];
  const head = ['by tool', 'calls', 'results', 'of all', 'reclaimed', 'largest'];
  const rows = tools
    .slice(0, MAX_TOOLS)
    .map((tool) => [
      shortenEnd(printable(tool.tool), MAX_TOOL_LENGTH),
      formatCount(tool.calls),
      formatCount(tool.resultTokens),
      formatShare(tool.resultTokens, tokens.without),
      zeroAsDash(tool.reclaimedResultTokens),
      zeroAsDash(tool.largestResult?.tokens ?? 0),
    ]);
  return [
    ...renderWithSubjects(
      head,
      rows,
      tools.map(({ largestResult }) => largestResult),
      layout,
    ),
    ...moreLines(tools.length - MAX_TOOLS, 'more tools', 0, width).map((line) =>
      paint('dim', line),
    ),
  ];
}

/** Renders what each rule reclaimed, with examples. */
export function renderRules({ rules, tokens }: AnalysisFigures, layout: Layout): readonly string[] {
  const { width, paint } = layout;
  if (rules.length === 0) return wrap('Nothing was stale: everything stays.', width);
  const head = ['what pruning reclaims', 'times', 'tokens', 'of all'];
  const rows = rules.flatMap((report) => [
    [
      itemsOf(report.rule),
      formatCount(report.items),
      formatCount(report.tokens),
      formatShare(report.tokens, tokens.without),
    ],
    ...report.examples.map((example) => [
      paint(
        'dim',
        `  ${aboutExample(example, Math.max(width - EXAMPLE_MARGIN, MIN_SUBJECT_LENGTH))}`,
      ),
      '',
      paint('dim', formatCount(example.tokens)),
      '',
    ]),
  ]);
  return renderTable(head, rows, layout);
}

/** Width of the indent and of the numbers beside an example. */
const EXAMPLE_MARGIN = 32;

function aboutExample(example: { readonly tool: string | null } & Subject, length: number): string {
  const tool =
    example.tool === null ? '' : `${shortenEnd(printable(example.tool), MAX_TOOL_LENGTH)} `;
  return tool + subjectText(example, Math.max(MIN_SUBJECT_LENGTH, length - columnsOf(tool)));
}

/** Renders what stays, by reason. */
export function renderStays({ stays, tokens }: AnalysisFigures, layout: Layout): readonly string[] {
  const { paint } = layout;
  const rows = stays.map((figures: StayFigures) => [
    STAY_REASON_NAMES[figures.reason][0],
    formatCount(figures.items),
    formatCount(figures.tokens),
    formatShare(figures.tokens, tokens.without),
  ]);
  const total = ['total', '', formatCount(tokens.with), formatShare(tokens.with, tokens.without)];
  const head = ['what stays, and why', 'items', 'tokens', 'of all'];
  return renderTable(head, [...rows, total.map((cell) => paint('bold', cell))], layout);
}

/** Renders the largest entries that stay. */
export function renderLargestStaying(
  entries: readonly StayingEntry[],
  layout: Layout,
): readonly string[] {
  if (entries.length === 0) return [];
  const rows = entries.map((entry) => [
    formatCount(entry.tokens),
    entry.entry === null ? '–' : formatCount(entry.entry),
    shortenEnd(
      entry.tool === null ? CATEGORY_NAMES[entry.category] : printable(entry.tool),
      MAX_TOOL_LENGTH,
    ),
    STAY_REASON_NAMES[entry.reason][1],
  ]);
  const head = ['tokens', 'index', 'largest that stay', 'why'];
  return renderWithSubjects(head, rows, entries, layout, ['right', 'right', 'left', 'left']);
}

/** Renders one row per session, and their sum. */
export function renderSessionFigures(
  { path, sessions, totals }: AnalysisReport,
  layout: Layout,
): readonly string[] {
  const row = (format: string, { entries, tokens, input }: AnalysisFigures): readonly string[] => [
    format,
    formatCount(entries),
    formatCount(tokens.without),
    formatShare(tokens.without - tokens.with, tokens.without),
    formatCompact(input.without),
    formatShare(input.without - input.with, input.without),
  ];
  const columns = {
    head: ['format', 'entries', 'tokens', 'reclaimed', 'sent', 'saved'],
    aligns: ['left'] as const,
    cellsOf: (session: SessionAnalysis) => row(session.format, session),
    total: row('', totals),
  };
  return renderSessions(path, sessions, columns, layout);
}

function zeroAsDash(tokens: number): string {
  return tokens === 0 ? '–' : formatCount(tokens);
}
