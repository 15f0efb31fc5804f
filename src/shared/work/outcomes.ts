// What came of a tool call, as far as its response tells: whether it was denied, failed, or went well. Looks at the ends of
// a result and no further; decides nothing about what is done with it.

import type { ToolResponseBlock } from '../content.js';
import { asRecord, tryParseJson } from '../json.js';
import type { JsonRecord } from '../json.js';

/** `unknown`: it runs on, or its result is no longer there to tell. */
export type CallOutcome = 'denied' | 'failed' | 'passed' | 'unknown';

/** Of a text, so much of its start and of its end is looked at: that is where tools say how they ended. */
const SEEN = 300;

/** A refusal by a user or a policy, in the words of agents. What a program was not permitted is a failure. */
const DENIED =
  /\b(?:user|human)\s+(?:has\s+)?(?:denied|rejected|declined|refused|cancelled|(?:doesn['’]t|does not|did not) want)\b|\b(?:denied|rejected|declined|refused) by (?:the |a )?(?:user|human|policy|hook|permission)|\btool (?:use|execution|call) (?:was |has been )?(?:denied|rejected|declined|not approved)|\bpermission to use \S+ (?:has been |was )?denied/i;

/** An exit code that is named, or a time that ran out. */
const EXIT_CODE =
  /\b(?:exit(?:ed)?|return)[ _]?(?:with )?(?:code|status)?["']?\s*[:=>]?\s*(-?\d+)\b/i;
const TIMED_OUT = /\b(?:command|process) timed out\b/i;
const STILL_RUNNING = /\bprocess running with session id\b|\brunning in (?:the )?background\b/i;

const CODE_KEYS = ['exit_code', 'exitCode', 'returncode', 'return_code'] as const;

/** Returns what came of the call that a response answers. */
export function outcomeOf({ error, result, isComplete }: ToolResponseBlock): CallOutcome {
  if (isComplete === false) return 'unknown';
  const text = typeof result === 'string' ? result : '';
  if (DENIED.test(startOf(error ?? text))) return 'denied';
  if (error !== undefined && error !== '') return 'failed';
  const code = codeOf(result) ?? codeOf(parsedText(text));
  if (code !== undefined) return code === 0 ? 'passed' : 'failed';
  const ends = endsOf(text);
  if (STILL_RUNNING.test(ends)) return 'unknown';
  const [, named] = EXIT_CODE.exec(ends) ?? [];
  if (named !== undefined) return Number(named) === 0 ? 'passed' : 'failed';
  return TIMED_OUT.test(ends) ? 'failed' : 'passed';
}

function startOf(text: string): string {
  return text.slice(0, SEEN);
}

function endsOf(text: string): string {
  return text.length <= 2 * SEEN ? text : `${text.slice(0, SEEN)}\n${text.slice(-SEEN)}`;
}

/** The exit code that data names, itself or in its metadata. */
function codeOf(data: unknown): number | undefined {
  const fields = asRecord(data);
  return fields && (codeIn(fields) ?? codeIn(asRecord(fields['metadata']) ?? {}));
}

function codeIn(fields: JsonRecord): number | undefined {
  const values = CODE_KEYS.map((key) => fields[key]);
  return values.find((value) => typeof value === 'number');
}

/** Agents keep small results as JSON texts; one that is long is none of these. */
const MAX_PARSED = 20_000;

function parsedText(text: string): unknown {
  return text.startsWith('{') && text.length <= MAX_PARSED ? tryParseJson(text) : undefined;
}
