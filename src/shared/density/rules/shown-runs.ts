// Finds which lines of a result the session shows elsewhere: in earlier results, and in the arguments of its own call. Also compares
// the other text in which a result may be sent. Shortens nothing.

import { MAX_CALLS_BACK, nameFarBack } from '../../call-name.js';
import type { ToolCallBlock } from '../../content.js';
import { asRecord } from '../../json.js';
import { pushTo } from '../../lists-by-key.js';
import { JSON_TABLES } from '../../shrink/json-tables.js';
import { FITS, MIN_RUN } from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { runsShrinker } from '../../shrink/shrink-text.js';
import type { ShrinkSettings } from '../../shrink/shrink-text.js';
import { Draft } from '../../shrink/shrinker.js';
import type { ShrinkPurpose } from '../../shrink/shrinker.js';
import { withoutSpentText } from '../index/excerpt.js';
import { CALL_KIND } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { KnownShingles } from '../index/shown-lines.js';
import type { ShownRun } from '../index/shown-lines.js';
import { firstRowFrom } from '../index/stretches.js';
import { linesOf } from '../index/text-lines.js';
import type { TextLines } from '../index/text-lines.js';
import type { UnsentResult } from '../index/unsent-results.js';
import type { Marks } from './marks.js';

/** The lines of a result that earlier results show which stay as they are. */
export function standingRuns(
  result: UnsentResult,
  index: HistoryIndex,
  stands: (row: number) => boolean,
  referredBy: Marks['referredBy'],
  shrink: ShrinkSettings,
): readonly ShownElsewhere[] {
  const shown = index.shownOf(result, stands);
  // The text of a file is sent as it is, and its call tells which lines are meant.
  const isFile = PURPOSES[index.useOf(result.call).kind] === undefined;
  const [first] = shown;
  const isWhole = shown.length === 1 && first?.start === 0 && first.end === result.lines.count;
  const areTables = runsShrinker(shrink, JSON_TABLES);
  const inTable = isWhole || isFile ? undefined : shownInTable(result, index, stands, areTables);
  return (inTable ?? shown).map(({ row, aside, places, ...lines }) => {
    pushTo(referredBy, row, result.row);
    const name = nameFarBack(index.nameAt(row), laterCalls(index, row, result.row));
    const callId = index.idOf(index.responses.id.at(row));
    if (isFile || aside === undefined) return { ...lines, source: { callId, name } };
    const placeOf = (line: number): number => places?.[line] ?? FITS.only;
    return { ...lines, aside, source: { callId, name, placeOf } };
  });
}

/** How many calls between those of two results have the name of the first one, among the last ones before the second result. */
function laterCalls({ calls, responses }: HistoryIndex, row: number, later: number): number {
  const end = firstRowFrom(calls.entry, responses.entry.at(later) + 1);
  const first = Math.max(0, end - MAX_CALLS_BACK);
  let own = end - 1;
  while (own >= first && calls.response.at(own) !== later) own -= 1;
  let source = own - 1;
  while (source >= first && calls.response.at(source) !== row) source -= 1;
  if (source < first) return 0;
  let count = 0;
  for (let call = source + 1; call < own; call += 1) {
    if (calls.name.at(call) === calls.name.at(source)) count += 1;
  }
  return count;
}

/** A result with its call, and what is known of its text. */
export type SeenResult = Pick<UnsentResult, 'call' | 'response'> & Partial<UnsentResult>;

const UNKNOWN_SUBJECT = { purpose: 'unknown', command: '', level: 'default' } as const;
const TABLES = new WeakMap<SeenResult, Table | null>();
/** Of the lines of a table, so many are shown. */
const MIN_SHOWN_SHARE = 0.5;

/** The text of a result with its JSON as tables, whose lines are those that the session shows of such results. */
interface Table {
  readonly text: string;
  readonly lines: TextLines;
}

/** Reads a result once, for what is shown of it and for how it is sent; `null` if it has no JSON to write so. */
export function tableOf(result: SeenResult, text: string): Table | null {
  let table = TABLES.get(result);
  if (table === undefined) {
    const written = JSON_TABLES.shrink(Draft.ofText(text), UNKNOWN_SUBJECT)?.text;
    table = written === undefined ? null : { text: written, lines: linesOf(written) };
    TABLES.set(result, table);
  }
  return table;
}

/**
 * The lines that earlier results show of this one as a table of JSON, which differs in its lines; `undefined` if they are few. A line of
 * the table is counted behind the lines of the text, unless one result shows them all.
 */
function shownInTable(
  result: UnsentResult,
  index: HistoryIndex,
  stands: (row: number) => boolean,
  areTables: boolean,
): readonly ShownRun[] | undefined {
  const table = tableOf(result, result.text)?.lines;
  if (table === undefined) return undefined;
  const { count } = result.lines;
  const runs = index.shownOf({ row: result.row, lines: table }, stands);
  const [run] = runs;
  const isWhole = run?.start === 0 && run.end === table.count && run.there === undefined;
  if (isWhole) return [{ start: 0, end: count, row: run.row }];
  const shown = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  if (!areTables || shown < MIN_SHOWN_SHARE * table.count) return undefined;
  return runs.map((each) => ({ ...each, start: each.start + count, end: each.end + count }));
}

/** The runs that are of the table, which stands behind so many lines, by the lines of the table. */
export function runsInTable(
  runs: readonly ShownElsewhere[],
  count: number,
): readonly ShownElsewhere[] {
  return runs.flatMap((run) =>
    run.start < count ? [] : { ...run, start: run.start - count, end: run.end - count },
  );
}

/** In lists among the arguments of a call, only this many items are searched for texts. */
const MAX_LISTED = 100;

/**
 * The lines of a result that repeat texts in its call's arguments, as tools echo what they wrote.
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
export const PURPOSES: Readonly<Record<number, ShrinkPurpose>> = {
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
  [CALL_KIND.unknown]: 'unknown',
};
