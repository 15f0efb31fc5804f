// How a call came out, where neither a field nor an exit code says it: by the words of its result. What a tool only shows, as a
// page, a log or an issue, may tell of failures that are none of the call.

import type { ToolResponseBlock } from '../content.js';
import { exitCodeOf, fieldsOfResult, saysFailed, textOfResult } from '../exit-code.js';
import { countsFailures, mayReportFailure, reportsFailure } from './failures-first.js';
import { MAX_TELLING } from './shrinker.js';
import { endOfNumber } from './shown-before.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const SHOWS = setOf(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output plan query read screenshot scroll search show snapshot status think todo todos view wait',
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

/** Whether a call has failed or was denied, as far as its result says. */
export function hasFailed(response: ToolResponseBlock): boolean {
  const { toolName, result, error } = response;
  const code = exitCodeOf(result);
  const isKnown = Boolean(error) || (code ?? 0) !== 0 || saysFailed(fieldsOfResult(result));
  if (isKnown || wasDenied(response)) return true;
  if (onlyShows(toolName)) return false;
  const words = wordsOfResult(result);
  if (code !== 0) return sumsUpFailure(words);
  // A pipe ends as its last program does: behind tests, that only shows how they came out. Scripts end well with what they tell.
  return lastLines(words).some((line) => countsFailures(line) || VERDICT.test(line));
}

const VERDICT = /^\W{0,4}(?:FAIL(?:ED|URES?|S)?|not ok)\b/;

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
  if (said.some(countsFailures) || endsWithException(said)) return true;
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
export function wasDenied({ result, error }: Pick<ToolResponseBlock, 'result' | 'error'>): boolean {
  const text = textOfResult(result);
  const said = [error, text.length > MAX_REFUSAL ? '' : text, fieldsOfResult(result)['error']];
  return said.some((words) => typeof words === 'string' && DENIED.test(words.slice(0, SEEN)));
}
