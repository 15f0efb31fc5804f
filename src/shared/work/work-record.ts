// What has been asked and done in entries that leave a history: gathered without a model, joined with what an earlier
// compaction kept. Pure, linear in what is looked at; makes no text of it.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { isBlank } from '../content.js';
import { callUse } from '../density/index/call-use.js';
import { CALL_KIND } from '../density/index/history-columns.js';
import { onOneLine, shortened } from '../shown-text.js';
import type { CallOf } from '../summarize/history-outline.js';
import { keyOfCall } from '../summarize/tool-summary.js';
import { DEFAULT_TOOL_CATALOG } from '../tool-catalog.js';
import type { ToolCatalog } from '../tool-catalog.js';
import { asRecord, tryParseJson } from '../json.js';
import type { JsonRecord } from '../json.js';

/** What became of a file or a command, by its latest outcome. */
export const WORK_KINDS = ['denied', 'failed', 'written', 'passed'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** What is known of the work in a part of a session. */
export interface WorkRecord {
  /** What the user said, in order, each message once it was said. */
  readonly said: readonly string[];
  /** Messages that were said before and are lost. */
  readonly lostSaid: number;
  /** What was worked on, by its name: a command, a file behind `WRITE`, a tool with its key parameter. The latest last. */
  readonly done: ReadonlyMap<string, WorkKind>;
  /** Of each kind, how much more there was and is lost. */
  readonly lostDone: Readonly<Partial<Record<WorkKind, number>>>;
}

/** The record of nothing. */
export const NO_WORK: WorkRecord = { said: [], lostSaid: 0, done: new Map(), lostDone: {} };

const MAX_NAME = 200;

export interface GatheredFrom {
  readonly history: readonly IContent[];
  /** Which of its entries leave. */
  readonly leaves: (index: number) => boolean;
  /** See `outlineHistory`. */
  readonly callOf: CallOf;
  /** @default the documented tools */
  readonly toolCatalog?: ToolCatalog | undefined;
  /** What is known already, of entries before these. */
  readonly earlier: WorkRecord;
}

/** Returns what is known of the entries that leave, together with what was known before. */
export function gatherWork(from: GatheredFrom): WorkRecord {
  const { history, leaves, callOf, toolCatalog = DEFAULT_TOOL_CATALOG, earlier } = from;
  const said = [...earlier.said];
  const done = new Map(earlier.done);
  for (const [index, entry] of history.entries()) {
    if (!leaves(index)) continue;
    if (entry.speaker === 'human') said.push(...wordsOf(entry));
    if (entry.speaker !== 'tool') continue;
    for (const [at, block] of entry.blocks.entries()) {
      const call = block.type === 'tool_response' ? callOf(index, at) : undefined;
      if (block.type !== 'tool_response' || call === undefined) continue;
      noteCall(done, call, block, toolCatalog);
    }
  }
  return { ...earlier, said, done };
}

/** What hosts put in, and summaries, nobody said. */
function wordsOf({ blocks, metadata }: IContent): readonly string[] {
  if (metadata?.synthetic === true || metadata?.isSummary === true) return [];
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return isBlank(text) ? [] : [text];
}

function noteCall(
  done: Map<string, WorkKind>,
  call: ToolCallBlock,
  response: ToolResponseBlock,
  catalog: ToolCatalog,
): void {
  const outcome = outcomeOf(response);
  if (outcome === 'unknown') return;
  const uses = Object.hasOwn(catalog, call.name) ? catalog[call.name] : undefined;
  const { kind, paths, command } = callUse(uses, call.parameters, true);
  const name = nameOf(command?.split('\0', 1)[0] ?? `${call.name} ${keyOfCall(call) ?? ''}`);
  if (outcome === 'denied') note(done, name, outcome);
  else if (kind === CALL_KIND.write && paths.length > 0 && outcome === 'passed') {
    done.delete(name);
    for (const path of paths) note(done, WRITE + nameOf(path), 'written');
  } else if (kind === CALL_KIND.command || (kind === CALL_KIND.write && command !== undefined)) {
    note(done, name, outcome);
  } else {
    // It goes well, or is not worth a word: only that it was denied would be.
    done.delete(name);
    if (kind !== CALL_KIND.write) return;
    for (const path of paths) noteFailedWrite(done, WRITE + nameOf(path));
  }
}

/** Stands before the name of a file that is written, so that no command is taken for it. */
export const WRITE = 'write ';

/** The latest outcome is the one that counts, and stands last. */
function note(done: Map<string, WorkKind>, name: string, kind: WorkKind): void {
  done.delete(name);
  done.set(name, kind);
}

/** An edit that failed leaves what was written before. */
function noteFailedWrite(done: Map<string, WorkKind>, name: string): void {
  if (done.get(name) !== 'written') note(done, name, 'failed');
}

/** Both ends of a long name tell it from others. */
function nameOf(text: string): string {
  const line = onOneLine(text);
  if (line.length <= MAX_NAME) return line;
  const end = onOneLine(text.slice(-MAX_NAME / 4));
  return `${shortened(line, MAX_NAME - end.length)}${end}`;
}

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
