// The rule `shrink`: shortens results before they are first sent, which costs no prompt cache, and
// never again later. The shrinkers are in `shared/shrink`. File contents and failures are not
// shrunk.

import { callName, keyOfCall, MAX_CALLS_BACK, nameFarBack } from '../../call-name.js';
import type { ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { placeholderOf, shrinkSettingsOf } from '../../density.js';
import type { PassSettings, PlaceholderForm, ShrinkOption } from '../../density.js';
import { asRecord } from '../../json.js';
import { pushTo } from '../../lists-by-key.js';
import { MAX_HOST_LINES, outcomeOf } from '../../outcome.js';
import { placeholderEnding } from '../../placeholder.js';
import { JSON_TABLES } from '../../shrink/json-tables.js';
import { resultText } from '../../shrink/result-text.js';
import { runsShrinker, shrinkText } from '../../shrink/shrink-text.js';
import {
  canBeReferenced,
  MIN_RUN,
  partOfRun,
  SHOWN_BEFORE_SHRINKER,
  shownBefore,
  sourceOfAll,
  withOthers,
} from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import type { ShrinkSettings } from '../../shrink/shrink-text.js';
import type { ShrinkLevel, ShrinkPurpose } from '../../shrink/shrinker.js';
import { countLines } from '../../shown-text.js';
import { payloadText } from '../../tokens/content-text.js';
import { digestResponse, summaryLine } from '../../summarize/tool-summary.js';
import type { CallUse } from '../index/call-use.js';
import { CALL_KIND, NONE } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { KnownShingles } from '../index/shown-lines.js';
import type { ShownRun } from '../index/shown-lines.js';
import { firstRowFrom } from '../index/stretches.js';
import { withoutSpentText } from '../index/excerpt.js';
import { linesOf } from '../index/text-lines.js';
import type { TextLines } from '../index/text-lines.js';
import type { UnsentResult } from '../index/unsent-results.js';
import type { DensityRule } from './density-rule.js';
import { ACTION } from './marks.js';
import type { Marks } from './marks.js';
import { Draft, SHRINK_LEVELS } from '../../shrink/shrinker.js';

/** What sessions use unless configured otherwise. */
export const DEFAULT_SHRINK: ShrinkOption = 'default';

/** A value of the setting `compression.density.shrink`. `preset`: as the session was created. */
export type ShrinkChoice = 'preset' | 'off' | ShrinkLevel;

export const SHRINK_CHOICES: readonly ['preset', ...ShrinkChoice[]] = [
  'preset',
  'off',
  ...SHRINK_LEVELS,
];

/** Finding on a result that was not sent yet: shortened, or nothing to take out. */
export interface ShrinkFinding {
  readonly rule: 'shrink';
  readonly reason: 'shrunk' | 'whole';
  /** Its length before and after, in UTF-16 units. */
  readonly length: number;
  readonly left: number;
}

/** How many results back ids are compared: farther than any reference leads. */
const MAX_BACK = 1_000;
/** What a call names if its result may be the JSON of a file, which an edit has to quote as it is. */
const JSON_FILE = /\.(?:json\w*|\w*map|ipynb|har|traj|webmanifest)\b/i;
/** In lists among the arguments of a call, only this many items are searched for texts. */
const MAX_LISTED = 100;

/** Shortens results that the model was not sent yet. */
export const SHRINK: DensityRule<ShrinkFinding> = {
  name: 'shrink',
  item: 'shrunk result',
  counter: 'resultsShrunk',
  settings: [
    {
      field: 'shrink',
      description: 'How far results are shrunk before the model is sent them',
      type: 'enum',
      enumValues: SHRINK_CHOICES,
      valueOf: (choice: ShrinkChoice, given: unknown) => (choice === 'preset' ? given : choice),
    },
  ],
  reads: ['calls', 'unsent'],
  mark: ({ index, settings, marks, mark }) => {
    keepSources(index, marks);
    const isMarked = (row: number): boolean => marks.responses[row] !== 0;
    for (const row of rowsToShrink(index, settings, isMarked, marks.referredBy)) {
      marks.responses[row] = mark(ACTION.shrink);
    }
    const unsent = index.unsentResults();
    return {
      ofResponse: (response) => {
        const result = unsent.get(response);
        if (result === undefined) return undefined;
        const { length } = payloadText(result.response.result);
        const text = result.shrunk?.text;
        const reason = text === undefined ? 'whole' : 'shrunk';
        return { rule: 'shrink', reason, length, left: text?.length ?? length };
      },
    };
  },
  say: ({ reason, length, left }) =>
    reason === 'shrunk'
      ? `It was not sent to the model yet, and is sent with ${left} of its ${length} characters.`
      : `It was not sent to the model yet, and none of its ${length} characters can be left out.`,
};

/**
 * Yields the rows of unsent results that are to be shrunk. Looks at no older results but those that they are compared with.
 *
 * @param isMarked whether a row leaves or is shrunk, also by this pass: whoever takes a row marks it before the next one
 * @param referredBy takes the rows that refer to others
 */
export function* rowsToShrink(
  index: HistoryIndex,
  settings: PassSettings,
  isMarked: (row: number) => boolean,
  referredBy: Marks['referredBy'],
): Generator<number, void, undefined> {
  const unsent = index.unsentResults();
  const shared = unsent.size === 0 ? NO_IDS : sharedIds(index);
  const stands = (row: number): boolean => {
    const id = index.responses.id.at(row);
    return !isMarked(row) && !shared.has(id) && canBeReferenced(index.idOf(id));
  };
  for (const result of unsent.values()) {
    if (isMarked(result.row)) continue;
    if (shrunkBy(settings, result, index, stands, referredBy) !== undefined) yield result.row;
  }
}

const NO_IDS: ReadonlySet<number> = new Set();

/**
 * Notes which results others refer to that stay in this pass, and keeps them from the rules before
 * this one: what was left out would be shown nowhere.
 */
function keepSources(index: HistoryIndex, marks: Marks): void {
  const { calls, responses } = index;
  /** By id, the rows that refer to the nearest earlier result with it. */
  const sought = new Map<string, number[]>();
  let isAnyKept = false;
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    const id = sought.size === 0 ? '' : index.idOf(responses.id.at(row));
    for (const from of sought.get(id) ?? NO_ROWS) {
      pushTo(marks.referredBy, row, from);
      isAnyKept ||= marks.responses[row] !== 0;
      marks.responses[row] = 0;
    }
    sought.delete(id);
    const ids = responses.source.at(row);
    if (ids === NONE || marks.responses[row] !== 0) continue;
    for (const source of index.idOf(ids).split(' ')) pushTo(sought, source, row);
  }
  if (!isAnyKept) return;
  for (let call = 0; call < calls.length; call += 1) {
    if (marks.referredBy.has(calls.response.at(call))) marks.calls[call] = 0;
  }
}

const NO_ROWS: readonly number[] = [];

/** Returns the shortened text of a result, cached on it; `undefined` when it stays as it is. */
function shrunkBy(
  settings: PassSettings,
  result: UnsentResult,
  index: HistoryIndex,
  stands: (row: number) => boolean,
  referredBy: Marks['referredBy'],
): string | undefined {
  const shrink = shrinkSettingsOf(settings.shrink);
  if (shrink === undefined || isRecalled(result.response.toolName)) return undefined;
  const form = placeholderOf(settings);
  const isOn = runsShrinker(shrink, SHOWN_BEFORE_SHRINKER) && !settings.recencyPruning;
  const runs = isOn ? standingRuns(result, index, stands, referredBy, shrink) : [];
  const key = JSON.stringify([shrink, form, runs]);
  if (result.shrunk?.settings !== key) {
    const text = shrunkResult(result, runs, index.useOf(result.call), shrink, form);
    result.shrunk = { settings: key, text, runs };
  }
  return result.shrunk.text;
}

/** The lines of a result that earlier results show which stay as they are. */
function standingRuns(
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
  return (inTable ?? shown).map(({ row, isAside = false, ...lines }) => {
    pushTo(referredBy, row, result.row);
    const name = nameFarBack(index.nameAt(row), laterCalls(index, row, result.row));
    const source = { callId: index.idOf(index.responses.id.at(row)), name };
    return { ...lines, ...(isAside && !isFile && { isAside }), source };
  });
}

/** A result with its call, and what is known of its text. */
type SeenResult = Pick<UnsentResult, 'call' | 'response'> & Partial<UnsentResult>;

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
function tableOf(result: SeenResult, text: string): Table | null {
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

/** The ids that several results have, as of models that number their calls anew in each answer. */
function sharedIds({ responses: { id } }: HistoryIndex): ReadonlySet<number> {
  const seen = new Set<number>();
  const shared = new Set<number>();
  for (let row = Math.max(0, id.length - MAX_BACK); row < id.length; row += 1) {
    (seen.has(id.at(row)) ? shared : seen).add(id.at(row));
  }
  return shared;
}

/**
 * Returns the shortened text of a result; `undefined` when it stays as it is. Deterministic on any
 * thread.
 *
 * @param runs its lines that earlier results show; behind those of its text, the ones of the text with tables
 * @param use what the catalog says about its call
 */
export function shrunkResult(
  seen: SeenResult,
  runs: readonly ShownElsewhere[],
  { kind, command = '' }: Pick<CallUse, 'kind' | 'command'>,
  settings: ShrinkSettings,
  form: PlaceholderForm,
): string | undefined {
  const { call, response, lines } = seen;
  const { callId, result } = response;
  const { text = resultText(result) } = seen;
  if (text === undefined) return undefined;
  const ending = placeholderEnding(callId, form);
  const given = { payload: payloadText(result), purpose: PURPOSES[kind], command };
  const isJsonFile = text !== result && JSON_FILE.test(payloadText(call.parameters));
  const inTable = runsInTable(runs, lines?.count ?? countLines(text));
  if (inTable.length > 0 && !isJsonFile) {
    const table = tableOf(seen, text)?.text ?? text;
    return statingAlike(response, table, inTable, (left) =>
      shrinkText(table, left, { ...given, isTable: true }, settings, ending),
    );
  }
  const isOn = runsShrinker(settings, SHOWN_BEFORE_SHRINKER);
  const shown = isOn ? withOthers(runs, runsInCall(call, text, lines)) : runs;
  const source = sourceOfAll(text, shown);
  if (source !== undefined) {
    // A placeholder, so that it is not mistaken for the text it refers to.
    const name = source.name === callName(call) ? '' : `, ${source.name}`;
    const key = `${shownBefore(source.callId)}${name}: ${keyOfCall(call) ?? ''}`;
    return summaryLine(digestResponse(response), { key }, ending);
  }
  if (isJsonFile) return undefined;
  return statingAlike(response, text, shown, (left) =>
    shrinkText(text, left, given, settings, ending),
  );
}

/** A shortened result. If it no longer states how its call ended, the lines stay in which hosts do. `undefined` if it stays whole. */
function statingAlike(
  response: ToolResponseBlock,
  text: string,
  shown: readonly ShownElsewhere[],
  shrunkWithout: (shown: readonly ShownElsewhere[]) => string | undefined,
): string | undefined {
  const left = shrunkWithout(shown);
  if (left === undefined || shown.length === 0) return left;
  const outcome = outcomeOf(response);
  const isStated = (result: string): boolean => outcomeOf({ ...response, result }) === outcome;
  if (outcome === 'unstated' || isStated(left)) return left;
  const end = countLines(text);
  const stating = [2, MAX_HOST_LINES].map((count) =>
    shrunkWithout(shown.flatMap((run) => partOfRun(run, count, end - count))),
  );
  return stating.find((each) => each === undefined || isStated(each)) ?? stating.at(-1);
}

/** The runs that are of the table, which stands behind so many lines, by the lines of the table. */
function runsInTable(runs: readonly ShownElsewhere[], count: number): readonly ShownElsewhere[] {
  return runs.flatMap((run) =>
    run.start < count ? [] : { ...run, start: run.start - count, end: run.end - count },
  );
}

/**
 * The lines of a result that repeat texts in its call's arguments, as tools echo what they wrote.
 */
function runsInCall(
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

/** Whether the tool returns original results, from any server: those were asked for in full. */
function isRecalled(toolName: string): boolean {
  return /(?:^|[^a-z])recall$/i.test(toolName);
}
