// Gives a new session the history that it begins with: as a former one left it where a state tells, else as it was given. Takes
// a long one in with turns of the event loop between.

import type { IContent } from '../../shared/content.js';
import { CtxfoldError } from '../../shared/errors.js';
import { elementAt } from '../../shared/misuse.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import type { HistoryService } from '../history-service.js';
import type { TokenCalibration } from '../tokens/token-calibration.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import { resume } from './resume.js';
import type { Resumed, StateDivergence } from './resume.js';
import type { SessionMemory } from './session-memory.js';
import { openState } from './session-state.js';
import type { OpenState } from './session-state.js';

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

async function goOn(
  history: HistoryService,
  { state, given, toolCatalog, calibration }: TakeUpOptions,
): Promise<TakenUp> {
  let opened: OpenState;
  let resumed: Resumed | StateDivergence;
  try {
    opened = openState(state);
    resumed = await resume(opened, given, toolCatalog);
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    return { taken: 0, report: { error } };
  }
  if (!('journal' in resumed)) return { taken: 0, report: resumed };
  const { journal, entries, tokens, memory, taken, divergence } = resumed;
  for (let start = 0; start === 0 || start < entries.length; start += ENTRIES_PER_TURN) {
    if (start > 0) await nextTurn();
    const part = entries.slice(start, start + ENTRIES_PER_TURN);
    part.forEach((entry, at) => {
      const known = tokens[start + at];
      if (known !== undefined) history.weigh(entry, known);
    });
    history.goOn(journal, part);
  }
  const { model, at } = opened;
  if (model !== null) {
    if (model.name !== null) history.nameModel(model.name);
    calibration.takeOver(model.name ?? undefined, model);
  }
  const { sent } = memory;
  const idleMs = sent.idleMs === null ? null : sent.idleMs + Math.max(0, Date.now() - at);
  const aged = { ...memory, sent: { ...sent, idleMs } };
  return { taken, memory: aged, report: divergence };
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
    const part = Array.from({ length }, (_, at) => elementAt('history', given, start + at));
    history.addAll(part as IContent[], undefined, start);
  }
}
