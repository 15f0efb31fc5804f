// The tables of an analysis: by category, tool, rule, reason and session. Prints nothing.

import { PRUNING_RULES } from '../../../density.js';
import type { RuleName } from '../../../density.js';
import type {
  AnalysisFigures,
  CategoryFigures,
  RuleReport,
  SessionAnalysis,
  StayFigures,
  StayingEntry,
  StayReason,
  Subject,
  ToolFigures,
} from './analysis-report.js';
import { itemsOf } from '../measure/attribution.js';
import type { Category } from '../measure/composition.js';
import { renderTable } from '../replay/render-tables.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount, formatShare, shortenEnd, shortenStart } from '../terminal/text-layout.js';
import type { Paint } from '../terminal/text-layout.js';

const CATEGORY_NAMES: Readonly<Record<Category, string>> = {
  'user-text': 'user text',
  'assistant-text': 'assistant text',
  thinking: 'thinking',
  'tool-call': 'tool calls',
  'tool-result': 'tool results',
  media: 'media',
  summary: 'summaries',
  other: 'other',
};

const BAR_WIDTH = 16;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** What a history consists of; categories without blocks are left out. */
export function renderCategories(
  { categories, tokens }: AnalysisFigures,
  paint: Paint,
): readonly string[] {
  const rows = categories
    .filter((figures) => figures.blocks > 0 || figures.tokens > 0)
    .map((figures: CategoryFigures) => [
      CATEGORY_NAMES[figures.category],
      formatCount(figures.blocks),
      formatCount(figures.tokens),
      formatShare(figures.tokens, tokens.without),
      paint('cyan', bar(figures.tokens / Math.max(1, tokens.without))),
      zeroAsDash(figures.reclaimedTokens),
    ]);
  const head = ['what it consists of', 'blocks', 'tokens', 'of all', '', 'reclaimed'];
  return renderTable(head, rows, ['left', 'right', 'right', 'right', 'left', 'right'], paint);
}

/** A bar in eighths of a column. */
function bar(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

const MAX_TOOLS = 15;
const MAX_TOOL_LENGTH = 18;
const MIN_SUBJECT_LENGTH = 10;

/** What each tool comes to, and what pruning reclaims of it. */
export function renderTools(
  { tools, tokens }: AnalysisFigures,
  width: number,
  paint: Paint,
): readonly string[] {
  if (tools.length === 0) return [];
  // The first one always, so that a table in which nothing is reclaimed says so.
  const shown = PRUNING_RULES.filter(
    ({ name }, at) => at === 0 || tools.some((tool) => reclaimedBy(tool, name) !== 0),
  );
  const head = [
    'by tool',
    'calls',
    'results',
    'of all',
    ...shown.map(({ name }) => name),
    'largest',
  ];
  const rows = tools
    .slice(0, MAX_TOOLS)
    .map((tool) => [
      shortenEnd(printable(tool.tool), MAX_TOOL_LENGTH),
      formatCount(tool.calls),
      formatCount(tool.resultTokens),
      formatShare(tool.resultTokens, tokens.without),
      ...shown.map(({ name }) => zeroAsDash(reclaimedBy(tool, name))),
      zeroAsDash(tool.largestResult?.tokens ?? 0),
    ]);
  const more = tools.length - MAX_TOOLS;
  return [
    ...renderWithSubjects(
      head,
      rows,
      tools.map(({ largestResult }) => largestResult),
      width,
      paint,
    ),
    ...(more > 0 ? [paint('dim', `and ${formatCount(more)} more tools; --json lists all`)] : []),
  ];
}

function reclaimedBy({ reclaimed }: ToolFigures, rule: RuleName): number {
  return reclaimed.find((figures) => figures.rule === rule)?.tokens ?? 0;
}

/** What each rule reclaims, with examples. */
export function renderRules(
  { rules, tokens }: AnalysisFigures,
  width: number,
  paint: Paint,
): readonly string[] {
  const head = ['what pruning reclaims', 'times', 'tokens', 'of all'];
  const rows = rules.flatMap((report) => [
    [
      ruleName(report),
      formatCount(report.items),
      formatCount(report.tokens),
      formatShare(report.tokens, tokens.without),
    ],
    ...report.examples.map((example) => [
      paint('dim', `  ${aboutExample(example, width - EXAMPLE_MARGIN)}`),
      '',
      paint('dim', formatCount(example.tokens)),
      '',
    ]),
  ]);
  return renderTable(head, rows, ['left', 'right', 'right', 'right'], paint);
}

/** Columns for the indent and the numbers beside an example. */
const EXAMPLE_MARGIN = 32;

function ruleName({ rule, isOn, recencyRetention }: RuleReport): string {
  const items = itemsOf(rule);
  if (recencyRetention === null) return items;
  return isOn
    ? `${items}: all but the newest ${recencyRetention} of a tool`
    : `off now: all but the newest ${recencyRetention} (--recency ${recencyRetention})`;
}

function aboutExample(example: { readonly tool: string | null } & Subject, length: number): string {
  const tool = example.tool === null ? '' : `${printable(example.tool)} `;
  return tool + subjectText(example, Math.max(MIN_SUBJECT_LENGTH, length - tool.length));
}

const REASON_NAMES: Readonly<Record<StayReason, string>> = {
  'user-text': 'what the user said',
  'newest-inclusion': 'files that were included, the newest of each',
  'assistant-text': 'what the model said',
  thinking: 'reasoning',
  'open-call': 'protected: calls without a result yet',
  write: 'writes: the record of what changed',
  'current-read': 'reads of files that no write changed since',
  'newest-result': 'the newest results of other tools',
  'recent-result': 'calls whose result is new',
  'small-result': 'calls whose result is too small to prune',
  'shortened-result': 'calls whose old result is an excerpt',
  'pruned-result': 'calls whose old result is a pointer',
  'other-call': 'other tools: no write makes them stale',
  media: 'images and other media',
  summary: 'summaries',
  other: 'parts that nothing is known about',
};

const SHORT_REASONS: Readonly<Record<StayReason, string>> = {
  'user-text': 'said by the user',
  'newest-inclusion': 'newest inclusion',
  'assistant-text': 'said by the model',
  thinking: 'reasoning',
  'open-call': 'waits for its result',
  write: 'a write',
  'current-read': 'no later write',
  'newest-result': 'among the newest',
  'recent-result': 'new result',
  'small-result': 'small result',
  'shortened-result': 'an excerpt',
  'pruned-result': 'pruned already',
  'other-call': 'no rule applies',
  media: 'media',
  summary: 'summary',
  other: 'not looked into',
};

/** What stays, and why. */
export function renderStays({ stays, tokens }: AnalysisFigures, paint: Paint): readonly string[] {
  const rows = stays.map((figures: StayFigures) => [
    REASON_NAMES[figures.reason],
    formatCount(figures.items),
    formatCount(figures.tokens),
    formatShare(figures.tokens, tokens.without),
  ]);
  const total = [
    'all that stays',
    '',
    formatCount(tokens.with),
    formatShare(tokens.with, tokens.without),
  ];
  const head = ['what stays, and why', 'items', 'tokens', 'of all'];
  return renderTable(
    head,
    [...rows, total.map((cell) => paint('bold', cell))],
    ['left', 'right', 'right', 'right'],
    paint,
  );
}

/** The largest entries that stay. */
export function renderLargestStaying(
  entries: readonly StayingEntry[],
  width: number,
  paint: Paint,
): readonly string[] {
  if (entries.length === 0) return [];
  const rows = entries.map((entry) => [
    formatCount(entry.tokens),
    formatCount(entry.entry),
    shortenEnd(
      entry.tool === null ? CATEGORY_NAMES[entry.category] : printable(entry.tool),
      MAX_TOOL_LENGTH,
    ),
    SHORT_REASONS[entry.reason],
  ]);
  const head = ['tokens', 'index', 'largest that stay', 'why'];
  return renderWithSubjects(head, rows, entries, width, paint, ['right', 'right', 'left', 'left']);
}

/** One row per session, and their sum. */
export function renderSessions(
  sessions: readonly SessionAnalysis[],
  totals: AnalysisFigures,
  nameOf: (session: SessionAnalysis) => string,
  width: number,
  paint: Paint,
): readonly string[] {
  const row = (format: string, { entries, tokens }: AnalysisFigures): readonly string[] => [
    format,
    formatCount(entries),
    formatCount(tokens.without),
    formatCount(tokens.without - tokens.with),
    formatShare(tokens.without - tokens.with, tokens.without),
  ];
  const head = ['format', 'entries', 'tokens', 'reclaimed', 'of all'];
  const rows = sessions.map((session) => row(session.format, session));
  const total = row('', totals);
  const left = Math.max(MIN_SUBJECT_LENGTH, width - widthOf([head, ...rows, total]));
  return renderTable(
    ['session', ...head],
    [
      ...rows.map((cells, at) => [
        ...sessions
          .slice(at, at + 1)
          .map((session) => shortenStart(printable(nameOf(session)), left)),
        ...cells,
      ]),
      ['all sessions', ...total].map((cell) => paint('bold', cell)),
    ],
    ['left', 'left', 'right', 'right', 'right', 'right'],
    paint,
  );
}

/** A table whose last column takes what width is left. */
function renderWithSubjects(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  subjects: readonly (Subject | null)[],
  width: number,
  paint: Paint,
  aligns: readonly ('left' | 'right')[] = head.map((_, at) => (at === 0 ? 'left' : 'right')),
): readonly string[] {
  const left = width - widthOf([head, ...rows]);
  if (left < MIN_SUBJECT_LENGTH) return renderTable(head, rows, [...aligns], paint);
  return renderTable(
    [...head, 'about'],
    rows.map((row, at) => [...row, subjectText(subjects[at] ?? null, left)]),
    [...aligns, 'left'],
    paint,
  );
}

/** Columns that a table takes, the gap behind it included. */
function widthOf(rows: readonly (readonly string[])[]): number {
  const [head = []] = rows;
  return head.reduce(
    (sum, _, column) => sum + Math.max(...rows.map((row) => row[column]?.length ?? 0)) + GAP,
    0,
  );
}

const GAP = 2;

function subjectText(subject: Subject | null, maxLength: number): string {
  if (subject === null) return '';
  return subject.path === null
    ? shortenEnd(printable(subject.excerpt ?? ''), maxLength)
    : shortenStart(printable(subject.path), maxLength);
}

function zeroAsDash(tokens: number): string {
  return tokens === 0 ? '–' : formatCount(tokens);
}
