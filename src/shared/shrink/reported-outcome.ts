// How a call came out, as far as its result says it: by a field, by an exit code, or in words. What a tool only shows, as a page, a
// log or an issue, may tell of failures that are none of the call.

import type { ToolResponseBlock } from '../content.js';
import {
  areOfAnswer,
  codeNamedIn,
  codeOfFields,
  exitCodeOf,
  fieldsOfResult,
  saysFailed,
  textOfResult,
} from '../exit-code.js';
import {
  countsFailures,
  mayCountFailures,
  mayReportFailure,
  reportsFailure,
} from './failures-first.js';
import { asRecord } from '../json.js';
import type { JsonRecord } from '../json.js';
import {
  acts,
  isNamedForeign,
  loads,
  makes,
  onlyShows,
  runsSeveral,
  showsPage,
} from '../tool-words.js';
import { withoutCodes } from '../shown-text.js';
import { deniesDoing, failedPartIn, isOfThing } from './denied-parts.js';
import { MAX_TELLING } from './shrinker.js';
import { endOfNumber, withoutMark } from './shown-before.js';

/** `unknown`: the call is still running. `unclear`: it reports a failure, but has no exit code. */
export type CallOutcome = 'denied' | 'failed' | 'passed' | 'unknown' | 'unclear';

/** Returns how a call came out, for a record that outlasts its result. */
export function outcomeOf(response: ToolResponseBlock): CallOutcome {
  const { error, result, isComplete } = response;
  if (isComplete === false) return 'unknown';
  const text = withoutMark(textOfResult(result));
  const fields = fieldsOfResult(result);
  if (wasDenied(response, fields)) return 'denied';
  if ((error !== undefined && error !== '') || saysFailed(fields)) return 'failed';
  const words = wordsOfResult(result);
  const ends = endsOf(text);
  let code = codeOfFields(fields);
  if (code === undefined && STILL_RUNNING.test(ends)) return 'unknown';
  code ??= codeNamedIn(ends);
  if (code !== undefined && code !== 0) return 'failed';
  if (code === 0) return givesVerdict(words) ? 'unclear' : 'passed';
  if (couldNotShow(response, words) || ranOut(text) || wasRefused(response, fields)) {
    return 'failed';
  }
  return wasCutShort(text) || (!showsPage(response.toolName) && mayHaveFailed(words))
    ? 'unclear'
    : 'passed';
}

const STILL_RUNNING = /\bprocess running with session id\b|\brunning in (?:the )?background\b/i;

/**
 * Whether a call has failed or was denied, for the line or the excerpt that stands in place of its result. Where no code says it, what
 * the result reports at its end counts, which is `unclear` to a record.
 */
export function hasFailed(response: ToolResponseBlock): boolean {
  const { toolName, result, error } = response;
  const fields = fieldsOfResult(result);
  const code = exitCodeOf(result, fields);
  const isKnown = Boolean(error) || (code ?? 0) !== 0 || saysFailed(fields);
  if (isKnown || wasDenied(response, fields)) return true;
  const words = wordsOfResult(result);
  if (couldNotShow(response, words)) return true;
  if (onlyShows(toolName)) return false;
  if (code === 0) return givesVerdict(words);
  // What stopped one of several commands stands before what the others said.
  const end = words.slice(-SEEN_ENDS);
  return (
    wasRefused(response, fields) ||
    wasCutShort(end) ||
    (!showsPage(toolName) && sumsUpFailure(words))
  );
}

// Denied by the user, or refused by the tool.

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
function wasDenied({ result, error }: ToolResponseBlock, fields: JsonRecord): boolean {
  const text = textOfResult(result);
  const said = [error, text.length > MAX_REFUSAL ? '' : text, fields['error']];
  return said.some((words) => typeof words === 'string' && DENIED.test(words.slice(0, SEEN)));
}

/** How servers of browsers say that they could not, under headings of their own; pages have such headings, too. */
const NO_PAGE =
  /^#(?:## Error[ \t]*\n|(?:## Result| [a-z_]+ response)\n+(?:\w*Error: |(?:Failed|Unable) to \w))/;
/** How others say it, in one line where the page would stand. */
const NOT_LOADED =
  /^(?:<error>)?(?:(?:Failed|Unable) to \w|Request failed\b|HTTP (?:error )?[45]\d\d\b)[^\n]*$/;

/** Whether a tool says that it could not show a page. What others show in one line may be a log, or what an issue is called. */
function couldNotShow({ toolName }: ToolResponseBlock, words: string): boolean {
  if (!onlyShows(toolName) && !showsPage(toolName)) return false;
  const seen = withoutCodes(words.slice(0, MAX_REFUSAL)).trim();
  return (
    NO_PAGE.test(seen) || (words.length <= MAX_REFUSAL && loads(toolName) && NOT_LOADED.test(seen))
  );
}

const FAILED_STATE = /^(?:fail|failed|failure|error|declined|refused)$/i;

function isInFailedState({ status, state }: JsonRecord): boolean {
  return [status, state].some((said) => typeof said === 'string' && FAILED_STATE.test(said));
}

/**
 * Whether a tool says that it has not done what it was told to, or not all of it: by the state of its answer, or of what it should
 * have made, or in its first words. Behind them it may name what it is about. What only shows something may show such a state.
 */
function wasRefused({ toolName, result }: ToolResponseBlock, fields: JsonRecord): boolean {
  if (onlyShows(toolName)) return false;
  if (areOfAnswer(fields) && isInFailedState(fields)) return true;
  const isChanged = isOfThing(fields, toolName) && !makes(toolName);
  const hasParts = runsSeveral(toolName) || (acts(toolName) && !isChanged);
  if (hasParts && failedPartIn(fields, toolName) !== '') return true;
  if (!acts(toolName) && !isNamedForeign(toolName)) return false;
  if (!areOfAnswer(fields)) {
    const [only, ...others] = Object.values(fields);
    const made = (others.length === 0 ? asRecord(only) : undefined) ?? fields;
    return (makes(toolName) && isInFailedState(made)) || deniesDoing(fields, toolName);
  }
  const start = withoutCodes(wordsOfResult(result).trimStart().slice(0, SEEN));
  const [line = ''] = start.split('\n', 1);
  const [said = ''] = line.split(/[:"(#]|\.\s/, 1);
  const [told = ''] = start.split(SHOWN_BELOW, 1);
  return saysNotDone(said) || (deniesAll(told) && !ALL_DONE.test(told));
}

/** Words of failure, but not in the name of a file. */
const NOT_DONE = new RegExp(
  [
    String.raw`^\W*(?:\w*error|failed|failure|invalid|unable)\b|^MCP error\b|\bvalidation errors?\b`,
    String.raw`\b(?:HTTP|status|status code) [45]\d\d\b|\bBad Gateway\b|\bService Unavailable\b|\bInternal Server Error\b`,
    String.raw`(?<![\w/.\\-])(?:failed|refused|forbidden|unauthorized|was declined|(?<!\b(?:submitted|opened|sent|raised|created|requested)\b.{0,80})requires? (?:[a-z]+ )?approval|timed out|no replacement|no match(?:es)?|did not|does not)(?![\w/\\-])`,
    String.raw`(?<![\w/.\\-])not (?:yet )?(?:been )?(?:found|allowed|authorized|permitted|written|created|updated|saved|sent|executed|applied)(?![\w/\\-])`,
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

/** Where a tool shows a part of a file, or how it has changed. */
const SHOWN_BELOW = /:[ \t]*\n|^(?:```|diff |--- |@@ |[ \t]*\d+[\t|→:])/m;
/** There was nothing left to do. */
const ALL_DONE = /\balready\b|^\W*(?:ok|done|success\w*|(?:\w+ ){0,3}complete)\b/i;
const NOTHING_DONE = /\bnothing (?:was|has been) (?:[a-z]+ed|sent|made|done)\b/i;
const NONE_DONE =
  /\bno (?!errors?\b|warnings?\b|issues?\b|problems?\b)[a-z]{2,20} (?:was|were|has been|have been) (?:changed|created|updated|deleted|saved|applied|executed|charged|refunded|booked|sent|made)\b/i;

/** Whether words say that nothing was done, whatever else they say; or none of one thing, and no other before. */
function deniesAll(said: string): boolean {
  if (NOTHING_DONE.test(said)) return true;
  const at = said.search(NONE_DONE);
  return at !== -1 && !/\w(?:ed|sent)\b/.test(said.slice(0, at));
}

// Stopped before its end.

/** How much of a result's start and end is searched for what stopped its program. UTF-16 units. */
const SEEN_ENDS = 300;
const CUT_SHORT =
  /\b(?:command|process) timed out\b|\b(?:aborted|interrupted|cancelled) by (?:the )?user\b/i;
/** A program that could not be run, or was ended. */
const NOT_RUN =
  /\bcommand not found\b|\bis not recognized as\b|^(?:[^\n:]{1,80}: line \d+: {1,4}\d+ )?(?:Killed|Terminated|Aborted)(?:$| [( ])|^npm (?:ERR!|error)|^Error from server|^Permission denied \(|(?<=\n\r?\n)Node\.js v\d+\.\d+\.\d+\s*(?![^])/m;
/** What programs say last of the system's errors, also of those with an address. */
const SYSTEM_ERROR =
  /^[^\s:][^:]{0,80}(?::\d{1,5})?: .{0,200}\b(?:No such (?:file or directory|process)|Permission denied|Connection (?:refused|timed out)|Operation not permitted|(?:Is|Not) a directory|File exists|No space left on device|Read-only file system)$/;

/** The start and the end of a text. */
function endsOf(text: string): string {
  return withoutCodes(
    text.length <= 2 * SEEN_ENDS ? text : `${text.slice(0, SEEN_ENDS)}\n${text.slice(-SEEN_ENDS)}`,
  );
}

/** Whether the ends of a text say that a program ran out of time or was stopped. */
function ranOut(text: string): boolean {
  return CUT_SHORT.test(endsOf(text));
}

/** Whether the ends of a text say that a program could not be run, or not to its end. */
function wasCutShort(text: string): boolean {
  const ends = endsOf(text);
  if (CUT_SHORT.test(ends) || NOT_RUN.test(ends)) return true;
  const last = ends.trimEnd();
  return SYSTEM_ERROR.test(last.slice(last.lastIndexOf('\n') + 1));
}

// Ended with a verdict, as of tests and builds.

const VERDICT =
  /^\W{0,4}(?:FAIL(?:ED|URES?|S)?|not ok)\b|\bBUILD FAIL(?:ED|URE)\b|^make(?:\[\d+\])?: \*\*\* |^error: could not compile|^npm (?:ERR!|error) |^\S{1,200}?(?:\(\d+,\d+\):|:\d+:\d+(?::| -)) (?:fatal )?error\b/;

/**
 * Whether the last lines count failures or say that tests or a build failed. A pipe ends as its last program does: behind them, that
 * only shows how they came out. Scripts end well with what they tell.
 */
function givesVerdict(words: string): boolean {
  const end = endOf(words);
  if (!mayReportFailure(end)) return false;
  return lastLines(end).some(
    (line) => countsFailures(line) || (VERDICT.test(line) && reportsFailure(line)),
  );
}

/** How tests and builds say that all is well, whatever their output tells of errors before. */
const ALL_IS_WELL =
  /\b[1-9]\d* (?:\w+ )?pass(?:ed|ing)\b|\b0 (?:failures|failed|failing|errors)\b|(?:[#ℹ]|<!--) fail 0\b|\bBUILD SUCCESS|\btest result: ok\b|\b(?:TEST|BUILD) SUCCEEDED\b|\b[Aa]ll (?:\w+ )?(?:tests|checks) pass/;

/** Whether the last lines of a text report a failure, as of tests that fail where no exit code is told. */
export function sumsUpFailure(text: string): boolean {
  if (failsAsReport(text)) return true;
  const end = endOf(text);
  // Most have neither.
  if (!mayReportFailure(end) && !end.includes('File "')) return false;
  const said = lastLines(end);
  if ((mayCountFailures(end) && said.some(countsFailures)) || endsWithException(said)) return true;
  const wellAt = said.findLastIndex((line) => ALL_IS_WELL.test(line));
  return (
    said.slice(wellAt + 1).some((line) => FAILED_TEST.test(line)) ||
    said.slice(Math.max(wellAt + 1, said.length - MAX_END_LINES)).some(reportsFailure)
  );
}

/** A test with its time, which may have a long report below it. */
const FAILED_TEST = /^\s*[✖✕✗✘×] .{1,200} \(?\d[\d.]* ?m?s\)?\s*$/;

/** Whether a text is a report in a format that does not tell at its end what has failed, where all may have passed. */
function failsAsReport(text: string): boolean {
  return (
    JUNIT.test(text.slice(0, MAX_REFUSAL)) || (TAP.test(text.slice(0, SEEN)) && NOT_OK.test(text))
  );
}

/** What a report in XML counts at its start; not in code, nor in a line of a file. */
const JUNIT = /^[ \t]{0,8}<testsuites? [^>]{0,400}\b(?:failures|errors)="[1-9]/m;
/** Not one that a page quotes. What is not ok has failed, unless it is still to do or within another test. */
const TAP = /(?<!```\w{0,12}\r?\n)^TAP version 1[34]$/m;
const NOT_OK = /^(?:not ok\b(?!.*# (?:TODO|SKIP)\b)|Bail out!)/im;

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
  const seen = withoutCodes(text.slice(0, MAX_SEEN));
  if (!mayReportFailure(seen) || lastLines(text).some((line) => ALL_IS_WELL.test(line))) {
    return false;
  }
  return seen.split('\n').some((line) => reportsFailure(line.slice(0, MAX_TELLING)));
}

/** How much of a text's end is searched for how it came out: UTF-16 units, lines for counts, and lines for other reports. */
const MAX_END = 2_000;
const MAX_COUNTS = 40;
const MAX_END_LINES = 12;
/** How much of a text is searched for reports, in UTF-16 units. */
const MAX_SEEN = 65_536;

/** The end of a text, as a terminal shows it, without the frames of a stack: there may be many below what was thrown. */
function endOf(text: string): string {
  let end = text.trimEnd().length;
  for (let frames = 0; frames < MAX_FRAMES; frames += 1) {
    const start = text.lastIndexOf('\n', end - 1);
    const line = withoutCodes(text.slice(start + 1, Math.min(end, start + SEEN)));
    if (start === -1 || !STACK.test(line)) break;
    end = start;
  }
  return withoutCodes(text.slice(Math.max(0, end - MAX_END), end));
}

const MAX_FRAMES = 1_000;
/** Of JavaScript, Java and .NET. */
const STACK = /^\s+(?:at \S|\.{3} \d+ more$)/;

function lastLines(text: string): readonly string[] {
  const lines = endOf(text).split('\n');
  const said = lines.filter((line) => line.trim() !== '' && endOfNumber(line, 0) === -1);
  return said.slice(-MAX_COUNTS);
}

/** Not `[INFO]` of a log, nor `[ 12%]` of a build. */
const DATA = /^\s*(?:\{\s*"|\[\s*(?:\{\s*"|\[|"))/;

/** Changes that are shown, as of git; and what each line of them begins with. */
const CHANGES_SHOWN = /^(?:diff --git |commit [\da-f]{7,40}\b)/;
const OF_CHANGE = /^(?:[ +@\\-]|$)/;

function endsInChanges(text: string): boolean {
  if (!CHANGES_SHOWN.test(text)) return false;
  return text
    .slice(-MAX_END)
    .split('\n')
    .slice(-MAX_END_LINES)
    .every((line) => OF_CHANGE.test(line));
}

/** What a result says in words: of data, only what its fields for that hold, and nothing of changes that are shown. */
function wordsOfResult(result: unknown): string {
  const given = textOfResult(result);
  const text = withoutMark(given);
  if (endsInChanges(text)) return '';
  const isData = DATA.test(text) && /[\]}]\s*$/.test(text.slice(-MAX_END));
  return isData && !text.includes('}\n{') ? textOfResult(fieldsOfResult(given)) : text;
}
