// How a call ended, as far as its result states it: by a field, by an exit code, or in the words of the host that ran it. A program's
// output is never judged, because the same words occur in logs, code and passing tests; callers that need more quote the output.

import type { ToolResponseBlock } from './content.js';
import { asArray, asRecord, fieldsOf, textOfParts, tryParseJson } from './json.js';
import type { JsonRecord } from './json.js';
import { withoutCodes } from './shown-text.js';
import { wordList } from './word-lists.js';

/** `running`: the result is not complete. `unstated`: nothing tells whether the call failed. */
export type CallOutcome = 'denied' | 'failed' | 'passed' | 'running' | 'unstated';

/** Returns how a call ended. */
export function outcomeOf({ error, result, isComplete }: ToolResponseBlock): CallOutcome {
  if (isComplete === false) return 'running';
  const text = textOfResult(result).replace(SHORTENED_LINE, '');
  const fields = fieldsOfResult(result);
  const said = [error, text.length > MAX_REFUSAL ? '' : text, fields['error']];
  if (said.some(isDenial)) return 'denied';
  if ((error !== undefined && error !== '') || saysFailed(fields)) return 'failed';
  const code = exitCodeOf(result, fields);
  if (code !== undefined) return code === 0 ? 'passed' : 'failed';
  const ends = text.length <= 2 * SEEN ? text : `${text.slice(0, SEEN)}\n${text.slice(-SEEN)}`;
  if (STILL_RUNNING.test(ends)) return 'running';
  if (CUT_SHORT.test(ends)) return 'failed';
  return fields['ok'] === true || fields['success'] === true ? 'passed' : 'unstated';
}

/** Whether it is stated that a call failed or was denied. */
export function hasFailed(response: ToolResponseBlock): boolean {
  const outcome = outcomeOf(response);
  return outcome === 'failed' || outcome === 'denied';
}

/** In UTF-16 units: how much of a text's start and end is searched for a host's words; and the longest text that may be a refusal. */
const SEEN = 300;
const MAX_REFUSAL = 1_000;

/** What hosts write before such words: nothing, a heading, or labels such as `Error:` and `[Operation Cancelled] Reason:`. */
const LABELS = String.raw`(?:\[[^\n]{1,200}\] Result:)?[\s[(<*]*(?:(?:[a-z]+ ){0,3}(?:error|reason|cancelled|denied|rejected|failed)\W{1,3}){0,3}`;
const WORDS = String.raw`(?:[a-z]+[.,]? ){0,8}`;

/**
 * A refusal by a user or a policy, as agents phrase it, at the start of a text: further on, a test, a commit or a message is about one. A
 * program that lacks a permission is a failure instead.
 */
const DENIED = new RegExp(
  [
    String.raw`^${LABELS}(?:the )?(?:user|human)\s+(?:has\s+)?(?:denied|rejected|declined|refused|cancelled|chose to (?:skip|reject)|(?:doesn['’]t|does not|didn['’]t|did not) (?:want|allow|approve))\b`,
    String.raw`^${LABELS}${WORDS}(?:denied|rejected|declined|refused|blocked) by (?:the |a |your )?(?:user|human|(?:security )?policy|hook|permission)`,
    String.raw`^${LABELS}${WORDS}tool (?:use|(?:call )?execution|call) (?:was |has been )?(?:denied|rejected|declined|not approved)`,
    String.raw`^${LABELS}${WORDS}permission to use [^\n]{1,200}? (?:has been |was )?denied\b`,
    String.raw`^${LABELS}${WORDS}requested permissions? [^\n]{1,200}? haven['’]t granted\b`,
    String.raw`^${LABELS}${WORDS}(?:this command|following parts?) requires? approval\b`,
    String.raw`^${LABELS}${WORDS}rule which prevents you from using\b`,
    String.raw`^exec[^\n]{1,250}\bRejected\(\\?"`,
  ].join('|'),
  'i',
);

function isDenial(words: unknown): boolean {
  return typeof words === 'string' && DENIED.test(words.slice(0, SEEN));
}

const STILL_RUNNING =
  /\bprocess running with session id\b|\b(?:command|process|task|shell)\b[^.\n]{0,20}\brunning in (?:the )?background\b/i;
const CUT_SHORT = new RegExp(
  String.raw`^${LABELS}(?:[a-z]+ ){0,3}(?:(?:command|process) timed out|(?:aborted|interrupted|cancelled) by (?:the )?user)\b`,
  'im',
);

// Structured results.

const CODE_KEYS = wordList('exit_code exitCode returncode return_code exit exitStatus exit_status');

/** Agents store small structured results as JSON text; longer texts are not parsed. */
const MAX_PARSED = 20_000;

/**
 * The fields of a structured result, also if it is stored as JSON text or wrapped in an MCP answer; none for anything else. For a list
 * of answers, as Cline returns, the fields of the first one that failed.
 */
function fieldsOfResult(result: unknown): JsonRecord {
  const fields = ownFields(result);
  const content = Array.isArray(result) ? result : fields['content'];
  const said = Array.isArray(content) ? textOfParts(content) : undefined;
  return said?.startsWith('{') === true ? { ...ownFields(said), ...fields } : fields;
}

function ownFields(result: unknown): JsonRecord {
  const isJson = typeof result === 'string' && /^(?:\{|\[\s*\{)/.test(result);
  if (isJson && result.length > MAX_PARSED) return flagsOf(result);
  const value = isJson
    ? (tryParseJson(result.replace(SHORTENED_LINE, '')) ?? flagsOf(result))
    : result;
  if (!Array.isArray(value)) return asRecord(value) ?? {};
  const answers = value.map((item: unknown) => asRecord(item) ?? {});
  // Any other list is data. A failure that it reports is not one of the call.
  if (!answers.every(({ success }) => typeof success === 'boolean')) return {};
  return (
    answers.find(({ result: answer, ...rest }) => answer !== undefined && saysFailed(rest)) ?? {}
  );
}

/** The outcome fields at the start of JSON that is long or was shortened in the middle; none for a log with one object per line. */
function flagsOf(json: string): JsonRecord {
  const flags = [...fieldsOf(json.slice(0, MAX_ABOVE))].filter(([name]) => FLAGS.has(name));
  if (flags.length === 0 || TEXT_AFTER_OBJECT.test(json.replace(SHORTENED_LINE, ''))) return {};
  return Object.fromEntries(flags.map(([name, value]) => [name, tryParseJson(value)]));
}

/** The end of an object, followed by a line that cannot continue the JSON. */
const TEXT_AFTER_OBJECT = /\}\r?\n(?=[^\s}\],])/;

const FLAGS: ReadonlySet<string> = new Set([
  ...wordList('isError is_error ok success error'),
  ...CODE_KEYS,
]);
/** UTF-16 units at the start of long JSON that are searched for outcome fields. */
const MAX_ABOVE = 2_000;

/** The fields of a structured result that hold a program's output, and those that hold any text of a tool. */
const PRINTED_KEYS = ['output', 'stdout', 'stderr'] as const;
const OUTPUT_KEYS = [...PRINTED_KEYS, 'result', 'content', 'text', 'message'] as const;

/** The output of a program that a structured result holds in its fields; `undefined` if it holds none. */
export function printedIn(result: unknown): string | undefined {
  const fields = ownFields(result);
  const printed = PRINTED_KEYS.flatMap((key) => textOfParts(fields[key]) ?? []);
  return printed.length === 0 ? undefined : printed.join('\n');
}

/** The text of a result, also of a structured one. */
export function textOfResult(result: unknown): string {
  const whole = textOfParts(result);
  if (whole !== undefined) return whole;
  const fields = ownFields(result);
  return OUTPUT_KEYS.flatMap((key) => textOfParts(fields[key]) ?? []).join('\n');
}

/** Whether fields state a failure: by a flag, by a text or object in `error`, or by GraphQL's `errors` without data. */
function saysFailed(fields: JsonRecord): boolean {
  const { isError, is_error, ok, success, error, errors, data } = fields;
  if ([isError, is_error, error].includes(true) || ok === false || success === false) return true;
  if (typeof error === 'string') return error !== '';
  if (Object.keys(asRecord(error) ?? {}).length > 0) return true;
  return asArray(errors).length > 0 && (data === null || Object.keys(fields).length === 1);
}

/** The exit code in structured data, or in its `metadata`. */
function codeOfFields(fields: JsonRecord): number | undefined {
  const places = [fields, asRecord(fields['metadata']) ?? {}];
  const values = places.flatMap((place) => CODE_KEYS.map((key) => place[key]));
  return values.find((value) => typeof value === 'number');
}

// Exit codes in the first or last line.

/** Matches `exit code 1` and the like, but not `return 1` or `exit 1` in displayed code, nor `in use at exit: 0`. */
const EXIT_CODE =
  /\b(?<!\bat )(?!(?<=(?:^|[;&|{]|\b(?:then|else|do))[ \t]*)exit -?\d)(?:exit(?:ed)?|return(?=[ _]?(?:code|status)))[ _]?(?:with )?(?:code|status)?["']?\s*[:=>]?\s*(-?\d+)\b/im;

/** The first exit code that a text names. */
function codeNamedIn(text: string): number | undefined {
  const code = EXIT_CODE.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** UTF-16 units at each end of a text that are searched for an exit code. A shortened text ends with a long note. */
const SEEN_ENDS = 1_000;
/** A longer line says more than the exit code, so it is ignored. In UTF-16 units. */
const MAX_CODE_LINE = 80;
const SHORTENED = '[Shortened from ';
/** The note at the end of a result that was shortened. */
const SHORTENED_LINE = /\n\[Shortened from \d[^\n]{0,1300}\]$/;

/** Whether a result states by its fields, or in its first or last line, that its tool failed. */
export function endedInFailure(result: unknown): boolean {
  const fields = fieldsOfResult(result);
  return saysFailed(fields) || (exitCodeOf(result, fields) ?? 0) !== 0;
}

/** The exit code that a result names in its fields, or in its first or last line. */
export function exitCodeOf(
  result: unknown,
  fields: JsonRecord = fieldsOfResult(result),
): number | undefined {
  return codeOfFields(fields) ?? codeAtEnds(textOfResult(result));
}

const NAMES_CODE = /exit|return/i;

function codeAtEnds(text: string): number | undefined {
  const start = withoutCodes(text.slice(0, SEEN_ENDS));
  const end = withoutCodes(text.slice(-SEEN_ENDS));
  // Fast path: most results name no exit code.
  if (!NAMES_CODE.test(start) && !NAMES_CODE.test(end)) return undefined;
  const first = start.trimStart().split('\n', MAX_HOST_LINES);
  const last = end
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith(SHORTENED))
    .slice(-MAX_HOST_LINES)
    .reverse();
  const codes = [first, last]
    .flatMap(withHostLines)
    .map((line) => (line.length > MAX_CODE_LINE ? undefined : codeNamedIn(line)));
  return codes.find((code) => code !== undefined);
}

/** The host's lines at the start of a list, and the line after them. */
function withHostLines(lines: readonly string[]): readonly string[] {
  const next = lines.findIndex((line) => !isOfHost(line));
  return next === -1 ? lines : lines.slice(0, next + 1);
}

/** Maximum lines that a host writes before or after an output, including the one with the exit code. */
export const MAX_HOST_LINES = 8;
const OF_HOST =
  /^(?:Chunk ID: \w+|Wall time: [\d.]+ seconds|Process exited with code -?\d+|Original token count: \d+|Output:|Directory: .*|Error: \(none\)|Exit Code: \S+|Signal: \S+|Background PIDs: .*|Process Group PGID: \S+|<\/?untrusted_context>)\s*$/;

/** Whether a line is one that a host writes around a command's output. */
export function isOfHost(line: string): boolean {
  return line.length <= MAX_CODE_LINE && OF_HOST.test(line);
}
