// Records what was asked and done in entries that a compaction removes, without a model, and merges it with the record of
// earlier compactions. Pure; linear in what it reads. `work-note.ts` writes the record as text.
// A call's outcome is only what its result states (`outcome.ts`). If it states none, the end of the result is quoted instead.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { isBlank, withResult } from '../content.js';
import { callUse, runIn } from '../density/index/call-use.js';
import type { CallUse } from '../density/index/call-use.js';
import { endingOf, isExcerpt } from '../density/index/excerpt.js';
import { CALL_ACCESS, CALL_KIND } from '../density/index/history-columns.js';
import { RECORD_TOKENS } from '../density/rules/judge-working-set.js';
import { EXCERPT, placeholderKind, statesFailure } from '../placeholder.js';
import { fileAt, madeIn, nameAt, nameOf, nameOfUse } from './named-work.js';
import type { CallOf } from '../summarize/history-outline.js';
import { usesOf } from '../tool-catalog.js';
import type { ToolCatalog } from '../tool-use.js';
import { payloadText } from '../tokens/content-text.js';
import { estimateResultTokens } from '../tokens/estimate.js';
import { asRecord, textOfParts } from '../json.js';
import { outcomeOf, textOfResult } from '../outcome.js';
import type { CallOutcome } from '../outcome.js';
import { onlyShowsByCommand } from '../showing-commands.js';
import { changesSomething, onlyShows } from '../tool-words.js';
import { WorkLedger, WRITE } from './work-ledger.js';
import type { WorkKind } from './work-ledger.js';

/** The work done in a part of a session. */
export interface WorkRecord {
  /** The user's messages, in order. */
  readonly userWords: readonly string[];
  /** Number of earlier messages that were dropped. */
  readonly lostUserWords: number;
  /** See `WorkLedger.done`. */
  readonly done: ReadonlyMap<string, WorkKind>;
  /** Number of dropped items per kind. */
  readonly lostDone: Readonly<Partial<Record<WorkKind, number>>>;
}

/** The empty record. */
export const NO_WORK: WorkRecord = {
  userWords: [],
  lostUserWords: 0,
  done: new Map(),
  lostDone: {},
};

/** What a compaction does with an entry. A shortened entry keeps its blocks, but some results in it become placeholders. */
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
 * Returns the earlier record plus the work in removed entries. From shortened entries it adds only the user's answers and what the
 * placeholders of results will not tell.
 */
export function gatherWork(from: GatheredFrom): WorkRecord {
  const { history, fateOf, callOf, toolCatalog, earlier } = from;
  const userWords = [...earlier.userWords];
  const ledger = new WorkLedger(earlier.done);
  for (const [index, entry] of history.entries()) {
    const fate = fateOf(entry);
    if (fate === 'kept') continue;
    if (entry.speaker === 'human') userWords.push(...wordsOf(entry));
    for (const [at, response] of entry.blocks.entries()) {
      if (response.type !== 'tool_response') continue;
      const call = callOf(index, at);
      if (call === undefined) continue;
      const use = callUse((tool) => usesOf(toolCatalog, tool), call, true);
      const answer = use.kind === CALL_KIND.ask ? answerIn(response) : undefined;
      if (answer !== undefined) userWords.push(answer);
      else noteCall(ledger, { call, response, use }, fate === 'shortened');
    }
  }
  return { ...earlier, userWords, done: ledger.done };
}

/** The user's words in an entry; none in synthetic entries and summaries. */
function wordsOf({ blocks, metadata }: IContent): readonly string[] {
  if (metadata?.synthetic === true || metadata?.isSummary === true) return [];
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return isBlank(text) ? [] : [text];
}

/** The user's answer to a tool that asks; `undefined` if it was denied, is blank or was pruned. */
function answerIn(response: ToolResponseBlock): string | undefined {
  if (outcomeOf(response) === 'denied') return undefined;
  const text = textOfParts(response.result) ?? payloadText(response.result);
  return isBlank(text) || isPruned(response) ? undefined : text;
}

/** A call with its response, and what the call does. */
interface AnsweredCall {
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock;
  readonly use: CallUse;
}

/**
 * Notes a call in the ledger.
 *
 * @param callStays whether the call stays and only its result is shortened: then reads, searches and commands are not noted yet
 */
function noteCall(ledger: WorkLedger, answered: AnsweredCall, callStays: boolean): void {
  const { call, response, use } = answered;
  const outcome = outcomeLeft(answered);
  if (outcome === 'running') return;
  const name = nameOfUse(call, use);
  // The placeholder of a denied call only states that it failed, which must not replace `denied`.
  if (outcome === 'failed' && isPruned(response) && ledger.latestOf(name) === 'denied') return;
  const isWrite = use.kind === CALL_KIND.write;
  const isCommand =
    use.kind === CALL_KIND.command ||
    use.runsOthers === true ||
    (isWrite && use.command !== undefined);
  if (outcome === 'denied') ledger.noteDenied(name, feedbackIn(response));
  else if (mayHaveActed(answered)) noteAction(ledger, name, answered, outcome);
  else if (isWrite && use.paths.length > 0) noteWrite(ledger, answered, outcome, callStays);
  else if (callStays) return;
  else if (isCommand) noteCommand(ledger, name, answered, outcome);
  // Reads, searches and the like are noted only if denied.
  else ledger.forget(name);
}

function noteAction(
  ledger: WorkLedger,
  name: string,
  { call, response }: AnsweredCall,
  outcome: CallOutcome,
): void {
  const made = outcome === 'failed' ? '' : madeIn(call, response);
  const detail = made === '' && outcome === 'unstated' ? endingOf(response) : made;
  // The call was noted when its result was pruned; the placeholder says less than that note.
  if (isPruned(response) && detail === '' && ledger.latestOf(name) !== undefined) return;
  ledger.note(name, kindOf(outcome), detail, made !== '');
}

function noteWrite(
  ledger: WorkLedger,
  answered: AnsweredCall,
  outcome: CallOutcome,
  callStays: boolean,
): void {
  const { call, response, use } = answered;
  const { paths, command, place } = use;
  // A placeholder may not tell that an edit failed, so failures are noted before pruning, and so is a success after a failure.
  const isKnown = ledger.latestOf(WRITE + fileAt(paths[0] ?? '', place)) !== undefined;
  if (isPruned(response) && outcome === 'unstated' && isKnown) return;
  if (!hasWritten(answered, outcome)) {
    if (command === undefined)
      for (const path of paths) ledger.noteWrite(fileAt(path, place), 'failed');
    else if (!callStays) noteCommand(ledger, nameOfUse(call, use), answered, outcome);
    return;
  }
  if (callStays && !isKnown) return;
  ledger.forget(nameOfUse(call, use));
  const deleted = deletedIn(call);
  for (const path of paths) {
    if (deleted.has(path)) {
      ledger.forgetWrite(fileAt(path, place));
      ledger.note(nameAt(`delete ${path}`, place), 'passed');
    } else ledger.noteWrite(fileAt(path, place), 'written');
  }
}

function noteCommand(
  ledger: WorkLedger,
  name: string,
  { response, use }: AnsweredCall,
  outcome: CallOutcome,
): void {
  const run = runIn(use.command);
  if (outcome !== 'failed') {
    if (REMOVES.test(run))
      for (const path of use.paths) ledger.forgetWrite(fileAt(path, use.place));
    if (REVERTS.test(run)) ledger.forgetWrites();
    if (onlyShowsByCommand(run)) {
      ledger.forget(name);
      return;
    }
  }
  ledger.note(name, kindOf(outcome), outcome === 'unstated' ? endingOf(response) : '');
}

function kindOf(outcome: CallOutcome): WorkKind {
  return outcome === 'failed' || outcome === 'passed' ? outcome : 'answered';
}

/** In a command with one of these, the exit code does not cover everything that was run. */
const SEVERAL = /[|;\n]/;

/** The outcome of a call. If its result was pruned, the placeholder may still state a failure. */
function outcomeLeft({ response, use }: AnsweredCall): CallOutcome {
  // The placeholder has words of the command, which may speak of an exit code.
  const outcome = outcomeOf(isPruned(response) ? withResult(response, '') : response);
  if (outcome === 'passed' && SEVERAL.test(runIn(use.command))) return 'unstated';
  return outcome === 'unstated' && statesFailure(response) ? 'failed' : outcome;
}

/**
 * Whether a call of an unknown tool may have done something that an agent without this record might repeat. Judged by the tool's name
 * (`create_refund`, `crm__sendMail`, `ticket_close`, but not `order_status`). If the name does not tell, for example in another
 * language, a short result is the sign, unless the tool takes a file and so counts as a read.
 */
function mayHaveActed({ call: { name }, response, use }: AnsweredCall): boolean {
  const { kind, access, paths } = use;
  const isNamed = access !== CALL_ACCESS.none || paths.length > 0;
  if (kind !== CALL_KIND.unknown && (kind !== CALL_KIND.read || isNamed)) return false;
  if (onlyShows(name)) return false;
  return changesSomething(name) || (kind === CALL_KIND.unknown && isShortResult(response));
}

/** Whether a result is short enough to confirm an action; pages and lists are longer. */
function isShortResult(response: ToolResponseBlock): boolean {
  const { result } = response;
  if (isExcerpt(result)) return String(result).includes(EXCERPT.held);
  if (isPruned(response)) return / — success, 1 line\b/.test(String(result));
  return estimateResultTokens({ result }) < RECORD_TOKENS;
}

/** Failure words in the first line of an edit's result: few tools state a failed edit in a field, but most begin with the failure. */
const NOT_WRITTEN =
  /^\W*(?:\w*error|failure|invalid|unable)\b(?!\.\w)|(?<![\w/.\\-])(?:(?:could |did |does |was |were )?not|cannot|can['’]t|couldn['’]t|didn['’]t|no|failed|multiple|must|but|has been modified since)(?![\w/\\-]|\.\w)/i;
/** Failure words after one of these words are about something else than the edit. */
const WRITTEN =
  /\b(?:success(?:ful|fully)?|updated|created|edited|wrote|written|saved|applied|replaced|inserted|made|done)\b/i;

/** How shells and programs say that they could not open a file. PowerShell begins with the name of its command. */
const NOT_OPENED =
  /: (?:Permission denied|No such file or directory|Is a directory|Not a directory|Read-only file system|No space left on device)$|^(?:(?:Set|Add)-Content|Out-File) ?: /i;

/** Whether a write took effect: as its result states, else unless the first line says that it failed. */
function hasWritten({ response, use }: AnsweredCall, outcome: CallOutcome): boolean {
  if (outcome !== 'unstated') return outcome === 'passed';
  const [line = ''] = textOfResult(response.result).trimStart().split('\n', 1);
  const seen = line.slice(0, MAX_LINE);
  if (use.command !== undefined) return !NOT_OPENED.test(seen.trimEnd());
  const at = seen.search(NOT_WRITTEN);
  return at === -1 || WRITTEN.test(seen.slice(0, at));
}

/** UTF-16 units of a result's first line that are searched for failure words. */
const MAX_LINE = 300;

/**
 * Commands after which the files they name are gone, or no longer have the content that was written. Those of Windows begin lines of
 * ordinary text, too, such as a commit's message.
 */
const REMOVES =
  /(?:^|[;&\n])[ \t]*(?:sudo\s+)?(?:rm|mv|(?:Remove|Move|Rename)-Item|git\s+(?:rm|mv|checkout|restore))\s|(?:^|[;&])[ \t]*(?:del|erase|move|ren)\s/i;

/** Commands after which no file need have the content that was written. */
const REVERTS =
  /(?:^|[;&\n])[ \t]*git\s+(?:-C\s+\S+\s+)?(?:reset\s+(?:\S+\s+)*--hard|stash(?:\s+(?:push|save|-\S+)|\s*(?:$|[;&\n]))|(?:checkout|restore)\s+(?:\S+\s+)*\.(?=\s|$|[;&]))/;

/** The files that a patch deletes or moves away. */
function deletedIn({ parameters }: ToolCallBlock): ReadonlySet<string> {
  const values = Object.values(asRecord(parameters) ?? { parameters }).flat();
  const patches = values.filter((value) => typeof value === 'string' && value.includes(PATCH));
  const found = patches.flatMap((patch) => [...String(patch).matchAll(GONE_FILE)]);
  return new Set(found.map(([, deleted, moved = '']) => (deleted ?? moved).trim()));
}

const PATCH = '*** Begin Patch';
const GONE_FILE = /^\*\*\* (?:Delete File: (.+)|Update File: (.+)\r?\n\*\*\* Move to: )/gm;

function isPruned(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none' || isExcerpt(response.result);
}

/** What users say when they deny a call, as agents quote it. */
const FEEDBACK =
  /(?:the user said|following (?:feedback|reason for the rejection)):\s*(?:<feedback>\s*)?([^]{1,2000})/i;
const MAX_FEEDBACK = 4_000;

/** The user's words about a denied call; empty if there are none. */
function feedbackIn({ error, result }: ToolResponseBlock): string {
  for (const text of [error, result]) {
    const [, words] =
      typeof text === 'string' ? (FEEDBACK.exec(text.slice(0, MAX_FEEDBACK)) ?? []) : [];
    if (words !== undefined) return nameOf(words.split('</feedback>', 1)[0] ?? '');
  }
  return '';
}
