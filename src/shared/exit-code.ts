// What a result says itself about how its tool ended: fields of structured data, or an exit code.

import { asArray, asRecord, fieldsOf, textOfParts, tryParseJson } from './json.js';
import type { JsonRecord } from './json.js';
import { withoutCodes } from './shown-text.js';

const CODE_KEYS = [
  ...['exit_code', 'exitCode', 'returncode', 'return_code', 'exit', 'exitStatus', 'exit_status'],
] as const;
/** Not `return 1` nor `exit 1` of code that is shown, nor what is in use at exit. */
const EXIT_CODE =
  /\b(?<!\bat )(?!(?<=(?:^|[;&|{]|\b(?:then|else|do))[ \t]*)exit -?\d)(?:exit(?:ed)?|return(?=[ _]?(?:code|status)))[ _]?(?:with )?(?:code|status)?["']?\s*[:=>]?\s*(-?\d+)\b/im;

/** Agents store small structured results as JSON text; longer texts are not parsed. */
const MAX_PARSED = 20_000;

/**
 * The fields of a structured result, also of one stored as JSON text, or in what MCP answers; none for anything else. Of a list of
 * answers, as Cline gives them, those of one that failed.
 */
export function fieldsOfResult(result: unknown): JsonRecord {
  const fields = ownFields(result);
  const content = Array.isArray(result) ? result : fields['content'];
  const said = Array.isArray(content) ? textOfParts(content) : undefined;
  return said?.startsWith('{') === true ? { ...ownFields(said), ...fields } : fields;
}

function ownFields(result: unknown): JsonRecord {
  const isJson = typeof result === 'string' && /^(?:\{|\[\s*\{)/.test(result);
  if (isJson && result.length > MAX_PARSED) return flagsOf(result);
  const value = isJson ? parsed(result) : result;
  if (!Array.isArray(value)) return asRecord(value) ?? {};
  const answers = value.map((item: unknown) => asRecord(item) ?? {});
  // Other lists are data, in which something may have failed.
  if (!answers.every(({ success }) => typeof success === 'boolean')) return {};
  return (
    answers.find(({ result: answer, ...rest }) => answer !== undefined && saysFailed(rest)) ?? {}
  );
}

/** What long JSON says first of how the call came out, as a report of tests does; nothing of a log, with an object in each line. */
function flagsOf(json: string): JsonRecord {
  const flags = [...fieldsOf(json.slice(0, MAX_ABOVE))].filter(([name]) => FLAGS.has(name));
  if (flags.length === 0 || GOES_ON.test(json.replace(SHORTENED_LINE, ''))) return {};
  return Object.fromEntries(flags.map(([name, value]) => [name, tryParseJson(value)]));
}

/** Behind an object's end, a line that no JSON has there. */
const GOES_ON = /\}\r?\n(?=[^\s}\],])/;

const FLAGS: ReadonlySet<string> = new Set(['isError', 'is_error', 'ok', 'success', ...CODE_KEYS]);
/** In UTF-16 units. */
const MAX_ABOVE = 2_000;

/** What JSON says, also of a result that was shortened: without the line that says so, and with its tables as lists of objects. */
function parsed(json: string): unknown {
  const whole = json.replace(SHORTENED_LINE, '');
  return whole === json ? tryParseJson(json) : tryParseJson(whole, withoutTables);
}

function withoutTables(_: string, value: unknown): unknown {
  const { columns, rows, ...others } = asRecord(value) ?? {};
  if (!Array.isArray(columns) || !Array.isArray(rows) || Object.keys(others).length > 0)
    return value;
  const named = (row: unknown): unknown =>
    Array.isArray(row) && row.length === columns.length
      ? Object.fromEntries(columns.map((name, at) => [name, row[at]]))
      : row;
  return rows.map(named);
}

/** In these fields of a structured result a tool's output is. */
const OUTPUT_KEYS = ['output', 'stdout', 'stderr', 'result', 'content', 'text', 'message'] as const;

/** The text of a result, also of a structured one. */
export function textOfResult(result: unknown): string {
  const whole = textOfParts(result);
  if (whole !== undefined) return whole;
  const fields = ownFields(result);
  return OUTPUT_KEYS.flatMap((key) => textOfParts(fields[key]) ?? []).join('\n');
}

/** How APIs call what they say of a request; other fields are of a thing, whose state is none of the call. */
const OF_ANSWER: ReadonlySet<string> = new Set(
  (
    '__type _meta code content data detail details documentation_url errcode errmsg error errorCode errorMessage errorMessages errorType error_code error_message errors instance isError ' +
    'message meta object path reason requestId request_id stackTrace status statusCode status_code structuredContent timestamp title traceId trace_id type'
  ).split(' '),
);
const HTTP_FAILURE = /^[45]\d\d$/;

/** Whether the fields say nothing but how a request was answered; of a text, there are none. */
export function areOfAnswer(fields: JsonRecord): boolean {
  return Object.keys(fields).every((key) => OF_ANSWER.has(key));
}

/** Whether the fields name a failure: in words, or as APIs describe one, in an object; those of GraphQL, in a list and without data. */
export function saysFailed(fields: JsonRecord): boolean {
  const { isError, is_error, ok, success, error, errors, errorMessages, data } = fields;
  if ([isError, is_error, error].includes(true)) return true;
  if ([ok, success].some((value) => value === false || value === 'false')) return true;
  if (typeof error === 'string') return error !== '';
  if (Object.keys(asRecord(error) ?? {}).length > 0 || haveUserErrors(data)) return true;
  const areListed = [errors, errorMessages].some((list) => asArray(list).length > 0);
  if (areListed && data === null) return true;
  return areOfAnswer(fields) && ((areListed && data === undefined) || namesRefusal(fields));
}

function namesRefusal(fields: JsonRecord): boolean {
  const { status, statusCode, status_code, code, errcode, errorMessage, error_message } = fields;
  if (typeof errcode === 'number' && errcode !== 0) return true;
  if ([fields['object'], fields['type']].some((kind) => /(?:^|_)error$/.test(String(kind)))) {
    return true;
  }
  if ([errorMessage, error_message].some((words) => typeof words === 'string' && words !== '')) {
    return true;
  }
  return [status, statusCode, status_code, code].some(
    (state) => ['string', 'number'].includes(typeof state) && HTTP_FAILURE.test(String(state)),
  );
}

/** Of Shopify, in what a mutation answers. */
function haveUserErrors(data: unknown): boolean {
  return Object.values(asRecord(data) ?? {}).some(
    (answer) => asArray(asRecord(answer)?.['userErrors']).length > 0,
  );
}

/** The exit code in structured data, or in its `metadata`. */
export function codeOfFields(fields: JsonRecord): number | undefined {
  return codeIn(fields) ?? codeIn(asRecord(fields['metadata']) ?? {});
}

function codeIn(fields: JsonRecord): number | undefined {
  const values = CODE_KEYS.map((key) => fields[key]);
  return values.find((value) => typeof value === 'number');
}

/** The first exit code that a text names. */
export function codeNamedIn(text: string): number | undefined {
  const code = EXIT_CODE.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** How much of a text's end is searched for its last line; what was shortened ends in a long one. UTF-16 units. */
const SEEN = 1_000;
/** A longer line says more than how the tool ended. */
const MAX_CODE_LINE = 80;
const SHORTENED = '[Shortened from ';
/** The last line of JSON that was shortened, which is JSON without it. */
const SHORTENED_LINE = /(?<=[}\]])\n\[Shortened from \d[^\n]{0,1300}\]$/;

/** Whether a result says by its fields, or in its first or last line, that its tool failed. */
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
  const [start, end] = [withoutCodes(text.slice(0, SEEN)), withoutCodes(text.slice(-SEEN))];
  // Most name none.
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

/** The lines of a host that others begin with, and the next one. */
function withHostLines(lines: readonly string[]): readonly string[] {
  const next = lines.findIndex((line) => !isOfHost(line));
  return next === -1 ? lines : lines.slice(0, next + 1);
}

/** A host writes no more of them on one side of an output. */
const MAX_HOST_LINES = 8;
const OF_HOST =
  /^(?:Chunk ID: \w+|Wall time: [\d.]+ seconds|Process exited with code -?\d+|Original token count: \d+|Output:|Directory: .*|Error: \(none\)|Exit Code: \S+|Signal: \S+|Background PIDs: .*|Process Group PGID: \S+|<\/?untrusted_context>)\s*$/;

/** Whether a line is one that a host writes around what a command has said. */
export function isOfHost(line: string): boolean {
  return line.length <= MAX_CODE_LINE && OF_HOST.test(line);
}
