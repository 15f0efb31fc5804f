// Initializes a history: from the saved state of an earlier session, by replaying its journal over the unchanged part of the
// history, else with the given entries. Yields to the event loop while it loads a long history. Counts no tokens.

import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { CtxfoldError } from '../../shared/errors.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { foldJournal, isSendable } from '../../shared/state/fold-journal.js';
import { readJournal } from '../../shared/state/journal-record.js';
import type { JournalRecord } from '../../shared/state/journal-record.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { HistoryService } from '../history-service.js';
import { bindsReasoning } from '../models/model-limits.js';
import type { TokenCalibration } from '../tokens/token-calibration.js';
import type { KnownTokens } from '../tokens/token-ledger.js';
import { beginWork, inTurns } from '../waiting/event-loop-turn.js';
import { firstDifferingEntry } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';
import { Journal } from './journal.js';
import { FIRST_PASSES, keptMemory } from './kept-memory.js';
import { brokenState, openState } from './session-state.js';
import { matchesKey, lengthOfKey } from './present-entries.js';
import type { SessionMemory, OpenState } from './session-state.js';

/**
 * How a history differs from the one that a state describes. `edited`: an entry changed. `shortened`: entries are missing at the
 * end. `foreign`: not even the first entry is the same. `not-followed`: the state's edits cannot be repeated, since another
 * version of this library made them.
 */
export interface StateDivergence {
  readonly reason: 'edited' | 'shortened' | 'foreign' | 'not-followed';
  /** Index of the first changed entry, among the added ones; for `not-followed`, the number of entries added by then. */
  readonly entry: number;
  /** Number of edits and summaries that could be repeated; `left` is the number of those that could not. */
  readonly followed: number;
  readonly left: number;
}

/** A history that continues from a state. */
interface ReplayedState {
  /** The journal of the entries that the state covers. */
  readonly journal: Journal;
  /** The entries after the replayed edits. */
  readonly entries: readonly IContent[];
  /** Token counts of the first of `entries`; all or a prefix. */
  readonly tokens: KnownTokens;
  readonly memory: SessionMemory;
  /** Number of given entries that the state covers; those behind them are new. */
  readonly taken: number;
  /** Absent if the history is the one that the state describes. */
  readonly divergence?: StateDivergence;
  /** Whether the host has changed an entry in front of reasoning that was sent. @default false */
  readonly isEditedAhead?: boolean;
}

/**
 * Continues a history from a state, in slices.
 *
 * @param keepsAdded whether the journal is to keep the entries
 * @returns only the divergence if nothing of the state is usable
 * @throws TypeError for an entry that a history cannot hold.
 */
function* replayInSlices(
  state: OpenState,
  { given, toolCatalog, digests: hashes }: HistoryStartOptions,
  keepsAdded: boolean,
): Generator<void, ReplayedState | StateDivergence, undefined> {
  const { digests, memory } = state;
  const taken = Math.min(digests.entries, given.length);
  const journal = new Journal(keepsAdded, hashes);
  const raw = given.slice(0, taken);
  yield* checkEach(raw, (entry) => {
    journal.add(entry);
  });
  yield* journal.digest.settleInSlices();
  const present = journal.digest.digests;
  const known = firstDifferingEntry(digests, present);
  const isShort = taken < digests.entries;
  if (known < taken || isShort) {
    const asSent = yield* continueAsSent(state, given, () => new Journal(keepsAdded, hashes));
    if (asSent !== undefined) return asSent;
  }
  const records = yield* readAll(state);
  const total = records.filter(({ kind }) => kind !== 'settings').length;
  const foreign = { reason: 'foreign', entry: 0, followed: 0, left: total } as const;
  const isSameAt = (at: number): boolean => digests.bytes[at] === present.bytes[at];
  const isChanged = known === 0 && digests.entries > 0;
  if (isChanged && !agreesBehindFirst(taken, isSameAt)) return foreign;
  const wasSent = (at: number): boolean =>
    digests.bytes.subarray(known).includes(present.bytes[at] ?? NaN);
  const mayHold = known < taken && !isShort && goesOn(raw, known, wasSent);
  const held = mayHold ? yield* foldJournal(raw, known, records, toolCatalog, true) : undefined;
  const isHeld = held !== undefined && (yield* isSendable(held, raw));
  const fold = isHeld ? held : yield* foldJournal(raw, known, records, toolCatalog);
  if (!isHeld && !(yield* isSendable(fold, raw))) return foreign;
  let at = 0;
  for (const record of fold.followed) {
    journal.note(record);
    if (record.kind !== 'settings') at = record.at;
  }
  journal.noteRemaining(fold.entries);
  const followed = journal.count;
  const { entries } = fold;
  const isSame = known === taken && fold.isWhole && !isShort;
  if (isSame) return { journal, entries, tokens: state.tokens, memory, taken };
  const changed = isChanged ? 'foreign' : ('edited' as const);
  const reason = known < taken ? changed : isShort ? 'shortened' : ('not-followed' as const);
  const isFollowed = reason !== 'not-followed';
  return {
    journal,
    entries,
    tokens: state.tokens.slice(0, fold.intactEntries),
    memory: yield* keptMemory(state, raw, fold),
    taken,
    isEditedAhead: isEditedAhead(raw, known, isSameAt),
    divergence: { reason, entry: isFollowed ? known : at, followed, left: total - followed },
  };
}

/** Whether most entries behind the first one are the same. Else they are those of another conversation that has the same id. */
function agreesBehindFirst(entries: number, isSameAt: (at: number) => boolean): boolean {
  let same = 0;
  for (let at = 1; at < entries; at += 1) if (isSameAt(at)) same += 1;
  return 2 * same > entries - 1;
}

/** Entries. A host that changes more of its last ones has rewritten its history. */
const MAX_CHANGED_END = 16;

/**
 * Whether a conversation goes on behind the first difference: all answers there but the newest were sent before. Hosts add the present
 * state (the time, a reminder, what is left of a budget) to their last messages, and leave it out of the next request. Its edits were
 * sent, so they hold: to drop each batch as soon as it was sent would cost more than to send everything.
 */
function goesOn(
  entries: readonly IContent[],
  firstDifference: number,
  wasSent: (at: number) => boolean,
): boolean {
  if (entries.length - firstDifference > MAX_CHANGED_END) return false;
  // A call that has lost its result did not run. It may be why an edit was made.
  const hasLost = entries[firstDifference]?.speaker !== 'tool';
  if (hasLost && hasOpenCalls(entries.slice(0, firstDifference))) return false;
  const unsent = entries
    .slice(firstDifference)
    .filter(({ speaker }, at) => speaker === 'ai' && !wasSent(firstDifference + at));
  return unsent.length <= 1;
}

/**
 * Whether most of the reasoning behind the first difference was sent before, at the same place: then an entry in front of it was
 * changed. In another branch of the conversation, the reasoning is another as well, and was made from what is in front of it.
 */
function isEditedAhead(
  entries: readonly IContent[],
  firstDifference: number,
  wasSent: (at: number) => boolean,
): boolean {
  const reasoned = [...entries.keys()].filter((at) => {
    return at > firstDifference && entries[at]?.blocks.some(({ type }) => type === 'thinking');
  });
  return 2 * reasoned.filter(wasSent).length > reasoned.length;
}

/**
 * Continues from the edited entries, if the host has stored these (what was sent) instead of the added ones. For this session they
 * are the added entries. Returns `undefined` if the given entries are not the ones that were sent.
 */
function* continueAsSent(
  { standing = 0, tokens, memory }: OpenState,
  given: readonly IContent[],
  createJournal: () => Journal,
): Generator<void, ReplayedState | undefined, undefined> {
  const taken = lengthOfKey(standing);
  const entries = given.slice(0, taken);
  if (taken === 0 || !matchesKey(entries, standing)) return undefined;
  const journal = createJournal();
  // Added here rather than taken from the caller's journal, which covers only as many entries as were added to the former session.
  // There may be more sent entries than added ones: a compaction that only shortened results still adds a note.
  yield* checkEach(entries, (entry) => {
    journal.add(entry);
  });
  yield* journal.digest.settleInSlices();
  return { journal, entries, tokens, memory: { ...memory, passes: FIRST_PASSES }, taken };
}

/** Whether calls at the end of a history have no responses. */
export function hasOpenCalls(entries: readonly IContent[]): boolean {
  const last = entries.findLastIndex(({ speaker }) => speaker === 'ai');
  const blocks = entries.slice(Math.max(0, last)).flatMap((entry) => entry.blocks);
  return blocks.filter(isToolCallBlock).length > blocks.filter(isToolResponseBlock).length;
}

/** @throws CtxfoldError `STATE_BROKEN` */
function* readAll({ journal }: OpenState): Generator<void, readonly JournalRecord[], undefined> {
  const records: JournalRecord[] = [];
  try {
    for (const record of readJournal(journal)) {
      records.push(record);
      if (records.length % 64 === 0) yield;
    }
  } catch (cause) {
    throw brokenState({ cause });
  }
  return records;
}

/** Entries loaded per turn of the event loop: takes about 0.5 ms, and 20 ms in a process that has just started. */
const ENTRIES_PER_TURN = 64;

/** How a state differed from the history, or why it was refused. */
export type StateReport = StateDivergence | { readonly error: CtxfoldError };

export interface HistoryStartOptions {
  /** The saved state; may be anything. @default none */
  readonly state: unknown;
  /** All entries as they were added; possibly more than the state covers. */
  readonly given: readonly IContent[];
  readonly toolCatalog: ToolCatalog | undefined;
  readonly calibration: TokenCalibration;
  /** Known hashes of entries. */
  readonly digests?: EntryDigests | undefined;
}

/** What a history was initialized with. */
export interface HistoryStart {
  /** Number of given entries that the history now covers. */
  readonly taken: number;
  /** Absent if the state was not usable. */
  readonly memory?: SessionMemory | undefined;
  readonly report?: StateReport | undefined;
}

/**
 * Continues a history from a state as far as the state covers it, or adds all given entries if there is no usable state.
 *
 * @throws TypeError for an entry that a history cannot hold.
 */
export async function startHistory(
  history: HistoryService,
  options: HistoryStartOptions,
): Promise<HistoryStart> {
  const { state = null, given } = options;
  const read = state === null ? undefined : await readStateFor(history, options);
  if (read === undefined || 'report' in read) {
    await addInTurns(history, given);
    return { taken: given.length, ...read };
  }
  const { journal, entries, tokens, taken, divergence } = read.resumed;
  const nextTurn = beginWork(entries.length);
  for (let start = 0; start === 0 || start < entries.length; start += ENTRIES_PER_TURN) {
    if (start > 0) await nextTurn();
    const end = start + ENTRIES_PER_TURN;
    history.goOn(journal, entries.slice(start, end), tokens.slice(start, end));
  }
  return { taken, memory: adoptMemory(history, read, options), report: divergence };
}

interface ReadState {
  readonly opened: OpenState;
  readonly resumed: ReplayedState;
}

async function readStateFor(
  history: HistoryService,
  options: HistoryStartOptions,
): Promise<ReadState | { readonly report: StateReport }> {
  try {
    const opened = openState(options.state);
    const keepsAdded = history.journal.added !== undefined;
    const slices = replayInSlices(opened, options, keepsAdded);
    const resumed = await inTurns(slices, options.given.length);
    return 'journal' in resumed ? { opened, resumed } : { report: resumed };
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    return { report: { error } };
  }
}

/**
 * Takes over what was learned about the model, and returns the session's memory aged to the present. If the host has changed an entry
 * in front of reasoning, the reasoning counts as stale for a model that binds it: its provider would refuse the next request.
 */
function adoptMemory(
  history: HistoryService,
  { opened: { model, at }, resumed: { memory, isEditedAhead = false } }: ReadState,
  { calibration }: HistoryStartOptions,
): SessionMemory {
  if (model.name !== null) history.nameModel(model.name);
  calibration.takeOver(model.name ?? undefined, model);
  const { sent, refusing = [] } = memory;
  const { modelName } = history;
  const isBound = bindsReasoning(modelName) || refusing.includes(modelName ?? null);
  const staleReasoningFrom = Math.min(sent.staleReasoningFrom ?? Infinity, sent.intactEntries);
  const idleMs = sent.idleMs === null ? null : sent.idleMs + Math.max(0, Date.now() - at);
  return {
    ...memory,
    sent: { ...sent, idleMs, ...(isEditedAhead && isBound && { staleReasoningFrom }) },
  };
}

/**
 * Continues a session from the memory that `replace` returns, before entries that the state does not cover are added: they are new to
 * the state.
 *
 * @param replace replaces the history, if that is still to be done
 */
export type Adopt = (replace: () => SessionMemory) => void;

/**
 * Continues a history that keeps its added entries from the state of a process that has saved first. The switch is synchronous, so
 * that no entry added meanwhile is lost.
 *
 * @param sharedEntries how many added entries must agree with a usable state, unless it is shorter: else it is of another branch
 * @returns `false`, without effect, if the state is not usable, or the history was cleared meanwhile
 * @throws CtxfoldError `CLOSED`, without effect, if the history was closed.
 */
export async function switchToState(
  history: HistoryService,
  options: Omit<HistoryStartOptions, 'given'>,
  sharedEntries: number,
  adopt: Adopt,
): Promise<boolean> {
  const former = history.journal;
  const given = former.added ?? [];
  const all = { ...options, given };
  const read = await readStateFor(history, all);
  history.assertOpen();
  if ('report' in read || history.journal !== former) return false;
  const { journal, entries, tokens, taken, divergence } = read.resumed;
  const isChanged = divergence?.reason === 'edited' || divergence?.reason === 'foreign';
  if (isChanged && divergence.entry < sharedEntries) return false;
  // `given` includes entries added meanwhile: it is the journal's own, growing list.
  const rest = given.slice(taken);
  const counted = rest.map((entry) => history.countedTokens(entry));
  adopt(() => {
    history.clear();
    rest.forEach((entry, at) => {
      const count = counted[at];
      if (count !== undefined) history.weigh(entry, count);
    });
    history.goOn(journal, entries, tokens);
    return adoptMemory(history, read, all);
  });
  history.addAll(rest);
  return true;
}

/**
 * Replaces a history with other entries, which continue from a state as far as the state covers them.
 *
 * @throws without effect, TypeError for an entry that a history cannot hold, or CtxfoldError `CLOSED`.
 */
export async function startOver(
  history: HistoryService,
  options: HistoryStartOptions,
  adopt: Adopt,
): Promise<StateReport | undefined> {
  const { given } = options;
  await inTurns(checkEach(given), given.length);
  history.assertOpen();
  history.clear();
  const { memory, taken, report } = await startHistory(history, options);
  if (memory !== undefined) adopt(() => memory);
  await addInTurns(history, given, taken);
  return report;
}

/** Validates each entry and passes it on, in slices. @throws TypeError for an entry that a history cannot hold. */
export function* checkEach(
  given: readonly IContent[],
  take?: (entry: IContent) => void,
): Generator<void, void, undefined> {
  // By index: `entries()` would allocate a pair for each entry.
  for (let at = 0; at < given.length; at += 1) {
    const entry = given[at] as IContent;
    assertIngestible(entry, at);
    take?.(entry);
    if (at % 8 === 0) yield;
  }
}

/** Adds entries to a history, from index `from` on, in slices. @throws TypeError for an entry that a history cannot hold. */
export async function addInTurns(
  history: HistoryService,
  given: readonly IContent[],
  from: number = 0,
): Promise<void> {
  const nextTurn = beginWork(given.length - from);
  for (let start = from; start < given.length; start += ENTRIES_PER_TURN) {
    if (start > from) await nextTurn();
    history.addAll(given.slice(start, start + ENTRIES_PER_TURN), undefined, start);
  }
}
