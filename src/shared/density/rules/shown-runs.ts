// Finds which lines of a result the session shows elsewhere: in earlier results, and in the arguments of the result's own call.
// What shrinkers leave of the result is compared, since of earlier results the session shows only that too. Decides nothing about
// what is sent.

import { MAX_CALLS_BACK, nameWithPosition } from '../../call-name.js';
import type { ToolCallBlock } from '../../content.js';
import { asRecord } from '../../json.js';
import { MIN_RUN } from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { shortenedText } from '../../shrink/shrink-text.js';
import type { ShortenedText, ShrinkSettings, ShrunkCall } from '../../shrink/shrink-text.js';
import type { ShrinkPurpose } from '../../shrink/shrinker.js';
import { payloadText } from '../../tokens/content-text.js';
import { runIn } from '../index/call-use.js';
import type { CallUse } from '../index/call-use.js';
import { CALL_KIND } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { KnownShingles } from '../index/shown-lines.js';
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

/** The lines of what shrinkers leave of a result that are also shown by earlier results that may be a source. */
export function shownRuns(
  result: UnsentResult,
  use: CallUse,
  index: HistoryIndex,
  mayBeSource: (row: number) => boolean,
  settings: ShrinkSettings,
  ending: string,
): ShownRuns {
  const { lines } = shrunkFormOf(result, result.text, use, settings, ending);
  // File contents are sent verbatim, and the parameters of the call tell which lines are meant.
  const isFile = PURPOSES[use.kind] === undefined;
  const shown = index
    .shownOf({ row: result.row, lines }, mayBeSource)
    .filter(({ isHardToFind }) => isFile || isHardToFind === undefined);
  const runs = shown.map(({ row, isHardToFind: _, ...lines }) => {
    const name = nameWithPosition(index.nameAt(row), laterCalls(index, row, result.row));
    return { ...lines, source: { callId: index.idOf(index.responses.id.at(row)), name } };
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

/** What shrinkers leave of a result, with its lines. */
export interface ShrunkForm extends ShortenedText {
  readonly call: ShrunkCall;
  readonly lines: TextLines;
}

/** Names of JSON files in a call's parameters. Its result may be such a file, which an edit has to quote verbatim. */
const JSON_FILE = /\.(?:json\w*|\w*map|ipynb|har|traj|webmanifest)\b/i;

/** Whether the texts of a result that may be a JSON file were written out on lines of their own. */
export function isJsonFile({ call, response }: SeenResult, text: string): boolean {
  return text !== response.result && JSON_FILE.test(payloadText(call.parameters));
}

const FORMS = new WeakMap<SeenResult, { readonly settings: string; readonly form: ShrunkForm }>();

/** What shrinkers leave of a result; cached. */
export function shrunkFormOf(
  seen: SeenResult,
  text: string,
  { kind, command }: Pick<CallUse, 'kind' | 'command'>,
  shrink: ShrinkSettings,
  ending: string,
): ShrunkForm {
  const settings = JSON.stringify([shrink, ending]);
  const known = FORMS.get(seen);
  if (known?.settings === settings) return known.form;
  const purpose = isJsonFile(seen, text) ? undefined : PURPOSES[kind];
  // Only what was run tells what the output is, not where.
  const call = { payload: payloadText(seen.response.result), purpose, command: runIn(command) };
  const left = shortenedText(text, call, shrink, ending);
  const isSame = left.draft.text === text;
  const form = { ...left, call, lines: (isSame && seen.lines) || linesOf(left.draft.text) };
  FORMS.set(seen, { settings, form });
  return form;
}

/** Only this many items of each list in a call's arguments are searched for texts. */
const MAX_LISTED = 100;

/**
 * The lines of a result that repeat texts in its call's arguments, because some tools echo what they wrote.
 */
export function runsInCall(
  { parameters }: ToolCallBlock,
  lines: TextLines,
): readonly ShownElsewhere[] {
  const known = new KnownShingles();
  const rows = new Map<number, number>();
  for (const argument of stringsIn(withoutSpentText(parameters))) {
    if (argument.length < MIN_RUN) continue;
    rows.set(rows.size, rows.size);
    known.note(rows.size - 1, linesOf(argument));
  }
  if (rows.size === 0) return [];
  const runs = known.shownIn(lines, rows);
  return runs.map(({ row: _, isHardToFind: __, ...run }) => ({ ...run, source: null }));
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
