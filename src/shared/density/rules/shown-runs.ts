// Finds which lines of a result the session shows elsewhere: in earlier results, and in the arguments of the result's own call.
// Also compares earlier results with the other form in which the result may be sent. Decides nothing about what is sent.

import { MAX_CALLS_BACK, nameWithPosition } from '../../call-name.js';
import type { ToolCallBlock } from '../../content.js';
import { asRecord } from '../../json.js';
import { JSON_TABLES } from '../../shrink/json-tables.js';
import { QUOTE_PLACE, MIN_RUN } from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { shrinkWithoutReferences, runsShrinker } from '../../shrink/shrink-text.js';
import type { ShortenedText, ShrinkSettings, ShrunkCall } from '../../shrink/shrink-text.js';
import { Draft } from '../../shrink/shrinker.js';
import type { ShrinkPurpose } from '../../shrink/shrinker.js';
import { payloadText } from '../../tokens/content-text.js';
import type { CallUse } from '../index/call-use.js';
import { CALL_KIND } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { KnownShingles } from '../index/shown-lines.js';
import type { ShownRun } from '../index/shown-lines.js';
import { withoutSpentText } from '../index/spent-text.js';
import { firstRowFrom } from '../index/stretches.js';
import { linesOf } from '../index/text-lines.js';
import type { TextLines } from '../index/text-lines.js';
import type { UnsentResult } from '../index/unsent-results.js';

/** Lines of a result that earlier results show, and the rows of those earlier results. */
export interface ShownRuns {
  readonly runs: readonly ShownElsewhere[];
  readonly rows: readonly number[];
}

/**
 * The lines of a result that are also shown by earlier results that may be a source. The first item is about the result's text
 * or its table form. The second, if any, is about what shrinkers leave of the text, since earlier results may be shrunk the same way.
 */
export function shownRuns(
  result: UnsentResult,
  index: HistoryIndex,
  mayBeSource: (row: number) => boolean,
  settings: ShrinkSettings,
): readonly ShownRuns[] {
  const { row, text, lines } = result;
  const use = index.useOf(result.call);
  const shown = index.shownOf(result, mayBeSource);
  // File contents are sent verbatim, and the parameters of the call tell which lines are meant.
  const isFile = PURPOSES[use.kind] === undefined;
  const describe = (runs: readonly ShownRun[]): ShownRuns =>
    describeRuns(result, index, runs, isFile);
  const [first] = shown;
  const isWhole = shown.length === 1 && first?.start === 0 && first.end === lines.count;
  if (isWhole || isFile) return [describe(shown)];
  if (tableOf(result, text) !== null) {
    return [describe(shownInTable(result, index, mayBeSource, settings) ?? shown)];
  }
  const left = shrunkFormOf(result, text, shrunkCallOf(result, use), settings);
  if (left.text === text) return [describe(shown)];
  left.lines ??= linesOf(left.text);
  const inLeft = index.shownOf({ row, lines: left.lines }, mayBeSource);
  if (inLeft.length === 0) return [describe(shown)];
  return [describe(shown), describe(behind(inLeft, lines.count))];
}

function describeRuns(
  result: UnsentResult,
  index: HistoryIndex,
  shown: readonly ShownRun[],
  isFile: boolean,
): ShownRuns {
  const runs = shown.map(({ row, sourceIndex, places, ...lines }) => {
    const name = nameWithPosition(index.nameAt(row), laterCalls(index, row, result.row));
    const callId = index.idOf(index.responses.id.at(row));
    if (isFile || sourceIndex === undefined) return { ...lines, source: { callId, name } };
    const placeOf = (line: number): number => places?.[line] ?? QUOTE_PLACE.shortIsUnique;
    return { ...lines, sourceIndex, source: { callId, name, placeOf } };
  });
  return { runs, rows: shown.map(({ row }) => row) };
}

/**
 * How many calls between the calls of two results have the name of the first call. 0 if the first call is not among the last
 * `MAX_CALLS_BACK` calls before the second result.
 */
function laterCalls({ calls, responses }: HistoryIndex, row: number, later: number): number {
  const end = firstRowFrom(calls.entry, responses.entry.at(later) + 1);
  const [source, own] = [responses.call.at(row), responses.call.at(later)];
  if (source < Math.max(0, end - MAX_CALLS_BACK)) return 0;
  let count = 0;
  for (let call = source + 1; call < own; call += 1) {
    if (calls.name.at(call) === calls.name.at(source)) count += 1;
  }
  return count;
}

/** A result with its call, and optionally its text and lines if they are known already. */
export type SeenResult = Pick<UnsentResult, 'call' | 'response'> & Partial<UnsentResult>;

/** Describes a result and its call to the shrinkers. */
export function shrunkCallOf(
  { response }: SeenResult,
  { kind, command = '' }: Pick<CallUse, 'kind' | 'command'>,
): ShrunkCall {
  return { payload: payloadText(response.result), purpose: PURPOSES[kind], command };
}

/** Another form in which a result may be sent, with its lines once they are computed. */
interface Form extends ShortenedText {
  lines?: TextLines;
}

const UNKNOWN_SUBJECT = { purpose: 'unknown', command: '', level: 'default' } as const;
const TABLES = new WeakMap<SeenResult, Form | null>();
const SHRUNK_FORMS = new WeakMap<SeenResult, { readonly settings: string; readonly form: Form }>();
/** A table refers to earlier results only if they show at least this share of its lines. */
const MIN_SHOWN_SHARE = 0.5;

/** The table form of a result, cached for both comparing and sending; `null` if it contains no JSON to shorten. */
function tableOf(result: SeenResult, text: string): Form | null {
  let table = TABLES.get(result);
  if (table === undefined) {
    const written = JSON_TABLES.shrink(Draft.ofText(text), UNKNOWN_SUBJECT)?.text;
    table = written === undefined ? null : { text: written, removed: [JSON_TABLES.label] };
    TABLES.set(result, table);
  }
  return table;
}

/** What shrinkers leave of a result, cached; its whole text if they remove nothing. */
export function shrunkFormOf(
  result: SeenResult,
  text: string,
  call: ShrunkCall,
  shrink: ShrinkSettings,
): Form {
  const settings = JSON.stringify(shrink);
  const known = SHRUNK_FORMS.get(result);
  if (known?.settings === settings) return known.form;
  const form = shrinkWithoutReferences(text, call, shrink);
  SHRUNK_FORMS.set(result, { settings, form });
  return form;
}

/** The other form of a result, to which `runsInForm` applies: its JSON as tables, or what shrinkers leave of it. */
export function formOf(
  result: SeenResult,
  text: string,
  call: ShrunkCall,
  settings: ShrinkSettings,
): ShortenedText {
  return tableOf(result, text) ?? shrunkFormOf(result, text, call, settings);
}

/** Selects the runs in the other form of a result, with lines of that form. In `runs`, they are offset by the result's `count` lines. */
export function runsInForm(
  runs: readonly ShownElsewhere[],
  count: number,
): readonly ShownElsewhere[] {
  return runs.flatMap((run) =>
    run.start < count ? [] : { ...run, start: run.start - count, end: run.end - count },
  );
}

function behind(runs: readonly ShownRun[], count: number): readonly ShownRun[] {
  return runs.map((run) => ({ ...run, start: run.start + count, end: run.end + count }));
}

/**
 * The lines of a result's table form that earlier results show; `undefined` if they are too few. If one earlier result shows all of
 * them, it shows the whole text, and the run covers the lines of the text instead.
 */
function shownInTable(
  result: UnsentResult,
  index: HistoryIndex,
  mayBeSource: (row: number) => boolean,
  settings: ShrinkSettings,
): readonly ShownRun[] | undefined {
  const table = tableOf(result, result.text);
  if (table === null) return undefined;
  const lines = (table.lines ??= linesOf(table.text));
  const { count } = result.lines;
  const runs = index.shownOf({ row: result.row, lines }, mayBeSource);
  const [run] = runs;
  const isWhole = run?.start === 0 && run.end === lines.count && run.sourceNumber === undefined;
  if (isWhole) return [{ start: 0, end: count, row: run.row }];
  const shown = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  const isSent = runsShrinker(settings, JSON_TABLES);
  return isSent && shown >= MIN_SHOWN_SHARE * lines.count ? behind(runs, count) : undefined;
}

/** Only this many items of each list in a call's arguments are searched for texts. */
const MAX_LISTED = 100;

/**
 * The lines of a result that repeat texts in its call's arguments, because some tools echo what they wrote.
 */
export function runsInCall(
  { parameters }: ToolCallBlock,
  text: string,
  lines: TextLines | undefined,
): readonly ShownElsewhere[] {
  const known = new KnownShingles();
  const rows = new Map<number, number>();
  for (const argument of stringsIn(withoutSpentText(parameters))) {
    if (argument.length < MIN_RUN) continue;
    rows.set(rows.size, rows.size);
    known.note(rows.size - 1, linesOf(argument));
  }
  if (rows.size === 0) return [];
  const runs = known.shownIn(lines ?? linesOf(text), rows);
  return runs.map(({ row: _, ...run }) => ({ ...run, source: null }));
}

/** The texts of arguments, including those in lists of objects. */
function stringsIn(parameters: unknown): readonly string[] {
  const values = Object.values(asRecord(parameters) ?? {});
  const inner = values.flatMap((value) => {
    const listed: readonly unknown[] = Array.isArray(value) ? value.slice(0, MAX_LISTED) : [];
    return listed.flatMap((item) => Object.values(asRecord(item) ?? {}));
  });
  return [...values, ...inner].filter((value) => typeof value === 'string');
}

/** Purposes whose results contain nothing that an edit could need verbatim. */
const PURPOSES: Readonly<Record<number, ShrinkPurpose>> = {
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
  [CALL_KIND.unknown]: 'unknown',
};
