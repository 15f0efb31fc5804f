// Initializes a history: from the saved state of an earlier session if there is a usable one, else with the given entries.
// Yields to the event loop while it takes in a long one.

import type { IContent } from '../../shared/content.js';
import { CtxfoldError } from '../../shared/errors.js';
import { elementAt } from '../../shared/misuse.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import type { HistoryService } from '../history-service.js';
import type { TokenCalibration } from '../tokens/token-calibration.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import type { EntryDigests } from './history-digest.js';
import { resume } from './resume.js';
import type { Resumed, StateDivergence } from './resume.js';
import type { SessionMemory, OpenState } from './session-state.js';
import { openState } from './session-state.js';

/** Entries taken in between turns of the event loop. */
const ENTRIES_PER_TURN = 256;

/** What is reported about a state. */
export type StateReport = StateDivergence | { readonly error: CtxfoldError };

export interface TakeUpOptions {
  /** The saved state; may be anything. @default none */
  readonly state: unknown;
  /** All entries as they were added. */
  readonly given: readonly IContent[];
  readonly toolCatalog: ToolCatalog | undefined;
  readonly calibration: TokenCalibration;
  /** Known hashes of entries. */
  readonly digests?: EntryDigests | undefined;
}

/** The outcome. */
export interface TakenUp {
  /** Number of given entries that the history now covers. */
  readonly taken: number;
  /** Absent if the state was not usable. */
  readonly memory?: SessionMemory | undefined;
  readonly report?: StateReport | undefined;
}

/**
 * Continues a history from a state as far as that covers it, or takes in all entries if there is no usable one.
 *
 * @throws TypeError for an entry that a history cannot hold.
 */
export async function takeUp(history: HistoryService, options: TakeUpOptions): Promise<TakenUp> {
  const { state, given } = options;
  const { memory, taken, report } =
    state === undefined || state === null ? NOTHING : await goOn(history, options);
  if (memory === undefined) await takeIn(history, given);
  return { memory, taken: memory === undefined ? given.length : taken, report };
}

const NOTHING: TakenUp = { taken: 0 };

async function goOn(history: HistoryService, options: TakeUpOptions): Promise<TakenUp> {
  const read = await readStateFor(history, options);
  if ('report' in read) return { taken: 0, report: read.report };
  const { journal, entries, tokens, taken, divergence } = read.resumed;
  for (let start = 0; start === 0 || start < entries.length; start += ENTRIES_PER_TURN) {
    if (start > 0) await nextTurn();
    const end = start + ENTRIES_PER_TURN;
    history.goOn(journal, entries.slice(start, end), tokens.slice(start, end));
  }
  return { taken, memory: noteOpened(history, read, options), report: divergence };
}

interface ReadState {
  readonly opened: OpenState;
  readonly resumed: Resumed;
}

async function readStateFor(
  history: HistoryService,
  { state, given, toolCatalog, digests }: TakeUpOptions,
): Promise<ReadState | { readonly report: StateReport }> {
  try {
    const opened = openState(state);
    const keepsAdded = history.journal.added !== undefined;
    const resumed = await resume(opened, { given, toolCatalog, digests, keepsAdded });
    return 'journal' in resumed ? { opened, resumed } : { report: resumed };
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    return { report: { error } };
  }
}

/** Takes over what was learned about the model, and returns the session's memory aged to the present. */
function noteOpened(
  history: HistoryService,
  { opened: { model, at }, resumed: { memory } }: ReadState,
  { calibration }: TakeUpOptions,
): SessionMemory {
  if (model !== null) {
    if (model.name !== null) history.nameModel(model.name);
    calibration.takeOver(model.name ?? undefined, model);
  }
  const { sent } = memory;
  const idleMs = sent.idleMs === null ? null : sent.idleMs + Math.max(0, Date.now() - at);
  return { ...memory, sent: { ...sent, idleMs } };
}

/**
 * Continues a history that keeps its added entries from the state of a faster process. The switch is synchronous, so that
 * nothing added meanwhile is lost.
 *
 * @param onGoneOn gets the session's memory before entries that the state does not cover are added: to the other process they
 *   are new
 * @returns `false`, without effect, if the state is not usable
 */
export async function goOnFrom(
  history: HistoryService,
  options: Omit<TakeUpOptions, 'given'>,
  onGoneOn: (memory: SessionMemory) => void,
): Promise<boolean> {
  const given = history.journal.added ?? [];
  const all = { ...options, given };
  const read = await readStateFor(history, all);
  if ('report' in read) return false;
  const { journal, entries, tokens, taken } = read.resumed;
  // The list has grown if something was added meanwhile.
  const rest = given.slice(taken);
  const counted = rest.map((entry) => history.countedTokens(entry));
  history.clear();
  rest.forEach((entry, at) => {
    const count = counted[at];
    if (count !== undefined) history.weigh(entry, count);
  });
  history.goOn(journal, entries, tokens);
  onGoneOn(noteOpened(history, read, all));
  history.addAll(rest);
  return true;
}

/** Adds entries to a history, from an index on. @throws TypeError for one that it cannot hold. */
export async function takeIn(
  history: HistoryService,
  given: readonly IContent[],
  from: number = 0,
): Promise<void> {
  for (let start = from; start < given.length; start += ENTRIES_PER_TURN) {
    if (start > from) await nextTurn();
    const length = Math.min(ENTRIES_PER_TURN, given.length - start);
    // `addAll` validates them.
    const part: unknown[] = [];
    for (let at = 0; at < length; at += 1) part.push(elementAt('history', given, start + at));
    history.addAll(part as IContent[], undefined, start);
  }
}
