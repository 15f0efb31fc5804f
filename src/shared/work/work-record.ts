// Records what was asked and done in entries that a compaction removes, without a model, and merges it with the record of
// earlier compactions. Pure; linear in what it reads. `work-note.ts` writes the record as text.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { isBlank } from '../content.js';
import { callUse } from '../density/index/call-use.js';
import type { CallUse } from '../density/index/call-use.js';
import { isExcerpt } from '../density/index/excerpt.js';
import { CALL_ACCESS, CALL_KIND } from '../density/index/history-columns.js';
import { RECORD_TOKENS } from '../density/rules/judge-working-set.js';
import { EXCERPT, placeholderKind, statedOutcome } from '../placeholder.js';
import { countsDoing, failedPartIn } from '../shrink/denied-parts.js';
import { outcomeOf, saysNotDone } from '../shrink/reported-outcome.js';
import type { CallOutcome } from '../shrink/reported-outcome.js';
import { commandOf, heldIn, MADE, madeIn, nameOf, nameOfUse, wasTriedOut } from './named-work.js';
import type { CallOf } from '../summarize/history-outline.js';
import { usesOf } from '../tool-catalog.js';
import type { ToolCatalog } from '../tool-use.js';
import { payloadText } from '../tokens/content-text.js';
import { estimateResultTokens } from '../tokens/estimate.js';
import { asRecord, textOfParts } from '../json.js';
import { onlyShowsByCommand } from '../showing-commands.js';
import { fieldsOfResult, textOfResult } from '../exit-code.js';
import { acts, isNamedForeign, onlyShows } from '../tool-words.js';

/** The latest outcome of a file or command; more important ones first. */
export const WORK_KINDS = ['denied', 'failed', 'written', 'passed'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** The work done in a part of a session. */
export interface WorkRecord {
  /** The user's messages, in order. */
  readonly said: readonly string[];
  /** Number of earlier messages that were dropped. */
  readonly lostSaid: number;
  /** Outcomes by name: a command, a file prefixed by `WRITE`, or a tool with its key parameter. The latest last. */
  readonly done: ReadonlyMap<string, WorkKind>;
  /** Number of dropped items per kind. */
  readonly lostDone: Readonly<Partial<Record<WorkKind, number>>>;
}

/** The empty record. */
export const NO_WORK: WorkRecord = { said: [], lostSaid: 0, done: new Map(), lostDone: {} };

/** What a compaction makes of an entry. A shortened one has the same blocks, but not all of their contents. */
export type EntryFate = 'kept' | 'shortened' | 'removed';

export interface GatheredFrom {
  readonly history: readonly IContent[];
  readonly fateOf: (entry: IContent) => EntryFate;
  /** See `outlineHistory`. */
  readonly callOf: CallOf;
  /** @default the documented tools */
  readonly toolCatalog?: ToolCatalog | undefined;
  /** The record of earlier entries. */
  readonly earlier: WorkRecord;
}

/**
 * Adds the work in the removed entries to the earlier record, and from the shortened ones what the user answered and what calls have
 * made.
 */
export function gatherWork(from: GatheredFrom): WorkRecord {
  const { history, fateOf, callOf, toolCatalog, earlier } = from;
  const said = [...earlier.said];
  const done = new Map(earlier.done);
  for (const [index, entry] of history.entries()) {
    const fate = fateOf(entry);
    if (fate === 'kept') continue;
    if (entry.speaker === 'human') said.push(...wordsOf(entry));
    if (entry.speaker !== 'tool') continue;
    for (const [at, block] of entry.blocks.entries()) {
      const call = block.type === 'tool_response' ? callOf(index, at) : undefined;
      if (block.type !== 'tool_response' || call === undefined) continue;
      const use = callUse(usesOf(toolCatalog, call.name), call.parameters, true);
      const answer = use.kind === CALL_KIND.ask ? answerIn(block) : undefined;
      if (answer !== undefined) said.push(answer);
      else if (fate === 'removed') noteCall(done, call, block, use);
      else noteAhead(done, call, block, use);
    }
  }
  return { ...earlier, said, done };
}

/** The user's words in an entry; none in synthetic entries and summaries. */
function wordsOf({ blocks, metadata }: IContent): readonly string[] {
  if (metadata?.synthetic === true || metadata?.isSummary === true) return [];
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return isBlank(text) ? [] : [text];
}

/** What the user answered through a tool, unless that was refused or is gone. */
function answerIn(response: ToolResponseBlock): string | undefined {
  if (outcomeOf(response) === 'denied') return undefined;
  const text = textOfParts(response.result) ?? payloadText(response.result);
  return isBlank(text) || isPruned(response) ? undefined : text;
}

function noteCall(
  done: Map<string, WorkKind>,
  call: ToolCallBlock,
  response: ToolResponseBlock,
  use: CallUse,
): void {
  const { kind, access, paths, command } = use;
  const outcome = outcomeLeft(response);
  if (outcome === 'unknown') return;
  const name = nameOfUse(call, use);
  const run = commandOf(command);
  if (outcome === 'failed' && isPruned(response) && isTold(done, name, 'denied')) return;
  if (outcome === 'denied') note(done, name + feedbackIn(response), outcome);
  else if (kind === CALL_KIND.write && paths.length > 0 && hasWritten(outcome, response, command)) {
    done.delete(name);
    const deleted = deletedIn(call);
    for (const path of paths) {
      const isThere = !deleted.has(path);
      if (isThere) note(done, WRITE + nameOf(path), 'written');
      else noteDeleted(done, path);
    }
  } else if (kind === CALL_KIND.command || (kind === CALL_KIND.write && command !== undefined)) {
    if (outcome === 'passed' && REMOVES.test(command ?? '')) {
      for (const path of paths) done.delete(WRITE + nameOf(path));
    }
    // Commands report failures in their output: if nothing is left of it, neither this nor an earlier outcome can be claimed.
    // Nor if it reports one without an exit code.
    if (outcome === 'unclear' || (outcome === 'passed' && isGone(response))) done.delete(name);
    // What a log shows may have failed: the line in its place does not tell which of them did.
    else if (
      run !== undefined &&
      (outcome === 'passed' || isPruned(response)) &&
      onlyShowsByCommand(run)
    )
      done.delete(name);
    else note(done, name, outcome);
  } else if (mayHaveActed(call, response, { kind, access, paths })) {
    // A line in its place does not tell of the parts any more.
    if (outcome === 'failed' && isPruned(response) && isTold(done, name + MADE, 'failed')) return;
    done.delete(name);
    for (const [told, known] of done) {
      if (known === 'failed' && told.startsWith(name + MADE)) done.delete(told);
    }
    const part = partOf(call, response, outcome);
    if (part !== '') note(done, name + part, 'failed');
    else if (outcome === 'passed') notePassed(done, name, madeIn(call, response));
    else if (outcome === 'failed') note(done, name, outcome);
  } else {
    // Reads, searches and other tools are recorded only if denied; a failed write is recorded per file.
    done.delete(name);
    if (kind !== CALL_KIND.write) return;
    for (const path of paths) noteFailedWrite(done, WRITE + nameOf(path));
  }
}

/** What the line in place of a result will not tell any more: that the call was denied, what it has made, or not done of it. */
function noteAhead(
  done: Map<string, WorkKind>,
  call: ToolCallBlock,
  response: ToolResponseBlock,
  use: CallUse,
): void {
  const outcome = outcomeLeft(response);
  if (outcome === 'denied') {
    note(done, nameOfUse(call, use) + feedbackIn(response), outcome);
  } else if (mayHaveActed(call, response, use)) {
    const part = partOf(call, response, outcome);
    const made = outcome === 'passed' ? madeIn(call, response) : '';
    if (part !== '') note(done, nameOfUse(call, use) + part, 'failed');
    else if (made !== '') notePassed(done, nameOfUse(call, use), made);
  }
}

/**
 * What was not done of several things, with what was made; empty if there is none. What neither acts nor runs by its name may count
 * what failed elsewhere, as `queue_stats`, unless it says so in its own word. Of what acts, it is judged already.
 */
function partOf(call: ToolCallBlock, response: ToolResponseBlock, outcome: CallOutcome): string {
  const { name } = call;
  const fields = fieldsOfResult(response.result);
  const mayTell = outcome === 'passed' && !acts(name);
  if (outcome !== 'failed' && !(mayTell && (isNamedForeign(name) || countsDoing(fields, name)))) {
    return '';
  }
  const part = failedPartIn(fields, name);
  return part === '' ? '' : MADE + nameOf(part) + madeIn(call, response);
}

/** Where the record tells already what the call has made, it says enough. */
function notePassed(done: Map<string, WorkKind>, name: string, made: string): void {
  if (made !== '' || !isTold(done, name + MADE, 'passed')) note(done, name + made, 'passed');
}

function isTold(done: ReadonlyMap<string, WorkKind>, start: string, kind: WorkKind): boolean {
  return [...done].some(([name, known]) => known === kind && name.startsWith(start));
}

/** The outcome, also of a call whose result was pruned: what is left may say it. */
function outcomeLeft(response: ToolResponseBlock): CallOutcome {
  const outcome = outcomeOf(response);
  // What was only tried out has done nothing.
  if (outcome !== 'denied' && wasTriedOut(response)) return 'unknown';
  const stated = statedOutcome(response);
  // What an object reports stands beside what it holds.
  const isObject = isExcerpt(response.result) && heldIn(String(response.result)) !== '';
  if (outcome === 'unclear' && isObject && stated === 'success') return 'passed';
  if (outcome !== 'passed' || stated !== 'error') return outcome;
  // An excerpt quotes what was reported, also where no exit code said that the call failed.
  return isExcerpt(response.result) ? 'unclear' : 'failed';
}

function isGone(response: ToolResponseBlock): boolean {
  return isPruned(response) && statedOutcome(response) === undefined;
}

/**
 * Whether a tool of another kind may have done something that would be done twice if it were not told: by its name, as `create_refund`,
 * `crm__sendMail`, `ticket_close`; or, where that does not tell, as in another language, by the little that it says. `order_status`
 * only tells of something.
 */
function mayHaveActed(
  { name }: ToolCallBlock,
  response: ToolResponseBlock,
  { kind, access, paths }: CallUse,
): boolean {
  const isNamed = access !== CALL_ACCESS.none || paths.length > 0;
  if (kind !== CALL_KIND.unknown && (kind !== CALL_KIND.read || isNamed)) return false;
  if (onlyShows(name)) return false;
  if (acts(name)) return true;
  return kind === CALL_KIND.unknown && saysLittle(response);
}

/** A page or a list says more than what was done. */
function saysLittle(response: ToolResponseBlock): boolean {
  const { result } = response;
  if (isExcerpt(result)) return String(result).includes(EXCERPT.held);
  if (isPruned(response)) return / — success, 1 line\b/.test(String(result));
  return estimateResultTokens({ result }) < RECORD_TOKENS;
}

/** Tools without an exit code say in their first line that nothing was written. */
function hasWritten(
  outcome: CallOutcome,
  { result }: ToolResponseBlock,
  command: string | undefined,
): boolean {
  if (outcome !== 'passed') return command !== undefined && outcome === 'unclear';
  const text = textOfResult(result).trimStart();
  return command !== undefined || !saysNotDone(text.split('\n', 1)[0] ?? '');
}

/** Commands behind which the files they name are no longer as they were written. */
const REMOVES = /(?:^|[;&\n])[ \t]*(?:sudo\s+)?(?:rm|mv|git\s+(?:rm|mv|checkout|restore))\s/;

/** The files that a patch deletes or moves away. */
function deletedIn({ parameters }: ToolCallBlock): ReadonlySet<string> {
  const values = Object.values(asRecord(parameters) ?? { parameters }).flat();
  const patches = values.filter((value) => typeof value === 'string' && value.includes(PATCH));
  const found = patches.flatMap((patch) => [...String(patch).matchAll(GONE_FILE)]);
  return new Set(found.map(([, deleted, moved = '']) => (deleted ?? moved).trim()));
}

const PATCH = '*** Begin Patch';
const GONE_FILE = /^\*\*\* (?:Delete File: (.+)|Update File: (.+)\r?\n\*\*\* Move to: )/gm;

function noteDeleted(done: Map<string, WorkKind>, path: string): void {
  done.delete(WRITE + nameOf(path));
  note(done, nameOf(`delete ${path}`), 'passed');
}

function isPruned(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none' || isExcerpt(response.result);
}

/** Prefix of the names of written files, which distinguishes them from commands. */
export const WRITE = 'write ';

/** Replaces an earlier outcome and moves the name to the end. */
function note(done: Map<string, WorkKind>, name: string, kind: WorkKind): void {
  done.delete(name);
  done.set(name, kind);
}

/** A failed edit does not undo an earlier write. */
function noteFailedWrite(done: Map<string, WorkKind>, name: string): void {
  if (done.get(name) !== 'written') note(done, name, 'failed');
}

/** What users say when they deny a call, as agents quote it. */
const FEEDBACK =
  /(?:the user said|following (?:feedback|reason for the rejection)):\s*(?:<feedback>\s*)?([^]{1,2000})/i;

/** The user's words about a denied call, which stay even if it is allowed later. */
function feedbackIn({ error, result }: ToolResponseBlock): string {
  for (const text of [error, result]) {
    const [, words] =
      typeof text === 'string' ? (FEEDBACK.exec(text.slice(0, MAX_FEEDBACK)) ?? []) : [];
    if (words !== undefined)
      return ` — the user said: ${nameOf(words.split('</feedback>', 1)[0] ?? '')}`;
  }
  return '';
}

const MAX_FEEDBACK = 4_000;
