// Gives a new session the history that it begins with: as a former one left it where a state tells, else as it was given. Takes
// a long one in with turns of the event loop between.

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

/** Entries that are taken in before the event loop has its turn. */
const ENTRIES_PER_TURN = 256;

/** What there is to tell of a state. */
export type StateReport = StateDivergence | { readonly error: CtxfoldError };

export interface TakeUpOptions {
  /** What was kept, which may be anything. @default nothing */
  readonly state: unknown;
  /** All entries, as they were added. */
  readonly given: readonly IContent[];
  readonly toolCatalog: ToolCatalog | undefined;
  readonly calibration: TokenCalibration;
  /** Hashes of entries that are known. */
  readonly digests?: EntryDigests | undefined;
}

/** What came of a state. */
export interface TakenUp {
  /** Entries of those given that the history holds, as they stand. */
  readonly taken: number;
  /** Absent when the state was of no use. */
  readonly memory?: SessionMemory | undefined;
  readonly report?: StateReport | undefined;
}

/**
 * Has a history go on from a state, as far as that knows it; or takes all entries in, where there is none, or one of no use.
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

/** Takes what was learned of the model; returns what the session remembers, as old as it is now. */
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
 * Has a history that keeps what was added go on from the state of somebody who was faster, in one step, so that nothing that
 * comes in meanwhile is lost.
 *
 * @param onGoneOn is told what the session remembers from then on, before it gets the entries that the state does not know: they are
 *   new to whoever has decided what it tells
 * @returns whether anything of the state is of use; nothing has changed when not
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
  // The list has grown meanwhile when something came in.
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

/** Adds entries to a history, from one of them on. @throws TypeError for one that it cannot hold. */
export async function takeIn(
  history: HistoryService,
  given: readonly IContent[],
  from: number = 0,
): Promise<void> {
  for (let start = from; start < given.length; start += ENTRIES_PER_TURN) {
    if (start > from) await nextTurn();
    const length = Math.min(ENTRIES_PER_TURN, given.length - start);
    // `addAll` checks what they are.
    const part: unknown[] = [];
    for (let at = 0; at < length; at += 1) part.push(elementAt('history', given, start + at));
    history.addAll(part as IContent[], undefined, start);
  }
}
