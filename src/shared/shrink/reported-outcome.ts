// How a call came out, where neither a field nor an exit code says it: by the words of its result. What a tool only shows, as a
// page, a log or an issue, may tell of failures that are none of the call.

import type { ToolResponseBlock } from '../content.js';
import { areOfAnswer, exitCodeOf, fieldsOfResult, saysFailed, textOfResult } from '../exit-code.js';
import {
  countsFailures,
  mayCountFailures,
  mayReportFailure,
  reportsFailure,
} from './failures-first.js';
import { asRecord } from '../json.js';
import type { JsonRecord } from '../json.js';
import { MAX_TELLING } from './shrinker.js';
import { endOfNumber } from './shown-before.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const SHOWS = setOf(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output plan query read screenshot scroll search show snapshot status think todo todos view wait',
);

const ACTS = setOf(
  'add append apply approve archive assign book buy cancel change charge checkout click close comment confirm create delete deploy ' +
    'disable drag edit email enable modify patch replace retry rollback scale ' +
    'escalate fill grant insert invite issue log make merge move notify order pay place post press publish refund register ' +
    'reject remove rename reply reserve resolve restart revoke save schedule select send set start stop submit transfer ' +
    'trigger type update upload write',
);

/** The words of a tool's name, in small letters. */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Whether a tool by its name only shows something, as `order_status`. */
export function onlyShows(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => SHOWS.has(word));
}

/** Whether a tool of a browser answers with the page on which it has acted, whose console may tell of failures. */
export function showsPage(toolName: string): boolean {
  return wordsOfTool(toolName).includes('browser');
}

/** Whether a tool by its name changes something, as `create_refund`. */
export function acts(toolName: string): boolean {
  return !onlyShows(toolName) && wordsOfTool(toolName).some((word) => ACTS.has(word));
}

/** Whether a call has failed or was denied, as far as its result says. */
export function hasFailed(response: ToolResponseBlock): boolean {
  const { toolName, result, error } = response;
  const fields = fieldsOfResult(result);
  const code = exitCodeOf(result, fields);
  const isKnown = Boolean(error) || (code ?? 0) !== 0 || saysFailed(fields);
  if (isKnown || wasDenied(response, fields)) return true;
  if (onlyShows(toolName)) return false;
  const words = wordsOfResult(result);
  if (code === 0) return givesVerdict(words);
  // What stopped one of several commands stands before what the others said.
  const end = words.slice(-SEEN_ENDS);
  return (
    wasRefused(response, fields) ||
    wasCutShort(end) ||
    (!showsPage(toolName) && sumsUpFailure(words))
  );
}

const VERDICT =
  /^\W{0,4}(?:FAIL(?:ED|URES?|S)?|not ok)\b|\bBUILD FAIL(?:ED|URE)\b|^make(?:\[\d+\])?: \*\*\* |^error: could not compile|^npm (?:ERR!|error) |^\S{1,200}?(?:\(\d+,\d+\):|:\d+:\d+(?::| -)) (?:fatal )?error\b/;

/**
 * Whether the last lines count failures or say that tests or a build failed. A pipe ends as its last program does: behind them, that
 * only shows how they came out. Scripts end well with what they tell.
 */
export function givesVerdict(words: string): boolean {
  const end = words.slice(-MAX_END);
  if (!mayReportFailure(end)) return false;
  return lastLines(end).some(
    (line) => countsFailures(line) || (VERDICT.test(line) && reportsFailure(line)),
  );
}

/** How much of a result's start and end is searched for what stopped its program. UTF-16 units. */
const SEEN_ENDS = 300;
const CUT_SHORT =
  /\b(?:command|process) timed out\b|\b(?:aborted|interrupted|cancelled) by (?:the )?user\b/i;
/** A program that could not be run, or was ended. */
const NOT_RUN =
  /\bcommand not found\b|\bis not recognized as\b|^(?:[^\n:]{1,80}: line \d+: {1,4}\d+ )?(?:Killed|Terminated|Aborted)(?:$| [( ])|^npm (?:ERR!|error)|^Error from server/m;
/** What programs say last of the system's errors. */
const SYSTEM_ERROR =
  /^[^\s:][^:]{0,80}: .{0,200}\b(?:No such file or directory|Permission denied|Connection (?:refused|timed out)|Operation not permitted|(?:Is|Not) a directory|File exists|No space left on device|Read-only file system)$/;

/** The start and the end of a text. */
export function endsOf(text: string): string {
  return text.length <= 2 * SEEN_ENDS
    ? text
    : `${text.slice(0, SEEN_ENDS)}\n${text.slice(-SEEN_ENDS)}`;
}

/** Whether the ends of a text say that a program ran out of time or was stopped. */
export function ranOut(text: string): boolean {
  return CUT_SHORT.test(endsOf(text));
}

/** Whether the ends of a text say that a program could not be run, or not to its end. */
export function wasCutShort(text: string): boolean {
  const ends = endsOf(text);
  if (CUT_SHORT.test(ends) || NOT_RUN.test(ends)) return true;
  const last = ends.trimEnd();
  return SYSTEM_ERROR.test(last.slice(last.lastIndexOf('\n') + 1));
}

/** Words of failure, but not in the name of a file. */
const NOT_DONE = new RegExp(
  [
    String.raw`^\W*(?:\w*error|failed|failure|invalid|unable)\b|^MCP error\b|\bvalidation errors?\b`,
    String.raw`\b(?:HTTP|status|status code) [45]\d\d\b|\bBad Gateway\b|\bService Unavailable\b|\bInternal Server Error\b`,
    String.raw`(?<![\w/.\\-])(?:failed|refused|forbidden|unauthorized|timed out|no replacement|no match(?:es)?|did not|does not)(?![\w/\\-])`,
    String.raw`(?<![\w/.\\-])not (?:found|allowed|authorized|permitted|written|created|updated|saved|sent)(?![\w/\\-])`,
    String.raw`(?<![\w/.\\-])(?:could not|couldn['’]t|cannot|can['’]t|has not been|has been modified since|but replace_all)(?![\w/\\-])`,
    '失败|失敗|错误|錯誤|エラー|실패|fehlgeschlagen',
  ].join('|'),
  'i',
);
/** Behind one of these, words of failure are about something else. */
const DONE = /\b(?:success(?:ful|fully)?|updated|created|edited|wrote|written|saved|applied)\b/i;

/** Whether a line says that nothing was done. */
export function saysNotDone(line: string): boolean {
  const seen = line.slice(0, SEEN);
  const at = seen.search(NOT_DONE);
  return at !== -1 && !DONE.test(seen.slice(0, at));
}

/** What these make has a state that is none of what they were told to write down. */
const MAKES = setOf(
  'book buy charge checkout create deploy order pay place post publish refund register reserve send submit transfer',
);
const FAILED_STATE = /^(?:fail|failed|failure|error|declined|refused)$/i;

function isInFailedState({ status, state }: JsonRecord): boolean {
  return [status, state].some((said) => typeof said === 'string' && FAILED_STATE.test(said));
}

/**
 * Whether a tool says that it has not done what it was told to: by the state of its answer, or of what it should have made, or in its
 * first words. Behind them it may name what it is about. What only shows something may show such a state.
 */
export function wasRefused(
  { toolName, result }: ToolResponseBlock,
  fields: JsonRecord = fieldsOfResult(result),
): boolean {
  if (onlyShows(toolName)) return false;
  if (areOfAnswer(fields) && isInFailedState(fields)) return true;
  if (!acts(toolName)) return false;
  if (!areOfAnswer(fields)) {
    const [only, ...others] = Object.values(fields);
    const made = (others.length === 0 ? asRecord(only) : undefined) ?? fields;
    return wordsOfTool(toolName).some((word) => MAKES.has(word)) && isInFailedState(made);
  }
  const [line = ''] = wordsOfResult(result).trimStart().slice(0, SEEN).split('\n', 1);
  const [said = ''] = line.split(/[:"(#]|\.\s/, 1);
  return saysNotDone(said);
}

/** Not `[INFO]` of a log, nor `[ 12%]` of a build. */
const DATA = /^\s*(?:\{\s*"|\[\s*(?:\{\s*"|\[|"))/;

/** What a result says in words: of data, only what its fields for that hold. */
export function wordsOfResult(result: unknown): string {
  const text = textOfResult(result);
  const isData = DATA.test(text) && /[\]}]\s*$/.test(text.slice(-MAX_END));
  return isData && !text.includes('}\n{') ? textOfResult(fieldsOfResult(text)) : text;
}

/** How much of a text's end is searched for how it came out: UTF-16 units, lines for counts, and lines for other reports. */
const MAX_END = 2_000;
const MAX_COUNTS = 40;
const MAX_END_LINES = 12;
/** How much of a text is searched for reports, in UTF-16 units. */
const MAX_SEEN = 65_536;

/** How tests and builds say that all is well, whatever their output tells of errors before. */
const ALL_IS_WELL =
  /\b[1-9]\d* (?:\w+ )?pass(?:ed|ing)\b|\b0 (?:failures|failed|failing|errors)\b|\bBUILD SUCCESS|\btest result: ok\b|\b(?:TEST|BUILD) SUCCEEDED\b|\b[Aa]ll (?:\w+ )?(?:tests|checks) pass/;

/** Whether the last lines of a text report a failure, as of tests that fail where no exit code is told. */
export function sumsUpFailure(text: string): boolean {
  const end = text.slice(-MAX_END);
  // Most have neither.
  if (!mayReportFailure(end) && !end.includes('File "')) return false;
  const said = lastLines(end);
  if ((mayCountFailures(end) && said.some(countsFailures)) || endsWithException(said)) return true;
  const wellAt = said.findLastIndex((line) => ALL_IS_WELL.test(line));
  return said.slice(Math.max(wellAt + 1, said.length - MAX_END_LINES)).some(reportsFailure);
}

/** Of Python, whatever the exception is called. */
function endsWithException(lines: readonly string[]): boolean {
  const last = lines.at(-1) ?? '';
  return (
    /^[A-Za-z_][\w.]*(?::|$)/.test(last) && lines.slice(-5, -1).some((line) => FRAME.test(line))
  );
}

const FRAME = /^ {2}File ".{1,300}", line \d/;

/** Whether a text reports a failure anywhere, without ending well. */
export function mayHaveFailed(text: string): boolean {
  if (sumsUpFailure(text)) return true;
  const seen = text.slice(0, MAX_SEEN);
  if (!mayReportFailure(seen) || lastLines(text).some((line) => ALL_IS_WELL.test(line))) {
    return false;
  }
  return seen.split('\n').some((line) => reportsFailure(line.slice(0, MAX_TELLING)));
}

function lastLines(text: string): readonly string[] {
  const lines = text.slice(-MAX_END).split('\n');
  const said = lines.filter((line) => line.trim() !== '' && endOfNumber(line, 0) === -1);
  return said.slice(-MAX_COUNTS);
}

/** A refusal by a user or a policy, as agents phrase it. A program that lacks a permission is a failure instead. */
const DENIED = new RegExp(
  [
    String.raw`\b(?:user|human)\s+(?:has\s+)?(?:denied|rejected|declined|refused|cancelled|chose to (?:skip|reject)|(?:doesn['’]t|does not|didn['’]t|did not) (?:want|allow|approve))\b`,
    String.raw`\b(?:denied|rejected|declined|refused|blocked) by (?:the |a |your )?(?:user|human|(?:security )?policy|hook|permission)`,
    String.raw`\btool (?:use|(?:call )?execution|call) (?:was |has been )?(?:denied|rejected|declined|not approved)`,
    String.raw`\bpermission to use [^\n]{1,200}? (?:has been |was )?denied\b`,
    String.raw`\brequested permissions? [^\n]{1,200}? haven['’]t granted\b`,
    String.raw`\b(?:this command|following parts?) requires? approval\b`,
    String.raw`\brule which prevents you from using\b`,
  ].join('|'),
  'i',
);

/** How much of a refusal is searched, and of how long a text. What is longer is what a tool read. In UTF-16 units. */
const SEEN = 300;
const MAX_REFUSAL = 1_000;

/** Whether a call was refused instead of being run. */
export function wasDenied(
  { result, error }: Pick<ToolResponseBlock, 'result' | 'error'>,
  fields: JsonRecord = fieldsOfResult(result),
): boolean {
  const text = textOfResult(result);
  const said = [error, text.length > MAX_REFUSAL ? '' : text, fields['error']];
  return said.some((words) => typeof words === 'string' && DENIED.test(words.slice(0, SEEN)));
}
