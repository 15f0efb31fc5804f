// Synchronizes a session's history with other processes that serve the same conversation, through its state in their store.

import type { IContent } from '../../shared/content.js';
import type { Logger } from '../host/logger.js';
import type { HistoryService } from '../history-service.js';
import type { PreflightRequest } from '../preflight/request-options.js';
import { startOver, switchToState } from './resume.js';
import type { Adopt, HistoryStartOptions, StateReport } from './resume.js';
import type { SessionState } from './session-state.js';
import { presentEntriesOf } from './present-entries.js';
import type { StateKeeper } from './state-keeper.js';
import { inTurns } from '../waiting/event-loop-turn.js';

export interface SharedHistoryInit extends Pick<
  HistoryStartOptions,
  'toolCatalog' | 'calibration'
> {
  readonly history: HistoryService;
  readonly logger: Logger;
  /** @default there is no store */
  readonly keeper?: StateKeeper | undefined;
  /** Returns the state of the session. */
  readonly snapshot: () => SessionState;
  readonly adopt: Adopt;
}

/** After this many lost races against other processes, the history is sent as this process has prepared it. */
const MAX_LOST_RACES = 5;

/** Maximum saves per turn: both the former and the present key may hold a state of another history, each a conflict. */
const MAX_ATTEMPTS = 3;

export class SharedHistory {
  readonly #init: SharedHistoryInit;
  #isEnded = false;

  constructor(init: SharedHistoryInit) {
    this.#init = init;
  }

  /**
   * Runs a preflight and saves the state. After a failure as well: adapters send the history nevertheless, with the edits that
   * landed before it. If another process has saved first, runs again from that state.
   */
  async saveAfter<Result>(
    preflight: () => Promise<Result>,
    { promptId, signal }: PreflightRequest,
  ): Promise<Result> {
    for (let lostRaces = 0; ; lostRaces += 1) {
      const run = preflight();
      await run.catch(() => signal?.throwIfAborted());
      // Saving could continue from the other process's state, for which nothing is prepared.
      if (lostRaces === MAX_LOST_RACES || !(await this.#save())) return run;
      this.#init.logger.debug('another process was faster', { promptId });
    }
  }

  /**
   * Saves the state. Returns whether another process was faster and the history now continues from its state.
   *
   * @param isLate whether another process may serve the conversation by now: then its state is not overwritten @default false
   */
  async #save(isLate: boolean = false): Promise<boolean> {
    const { keeper, history, snapshot } = this.#init;
    if (keeper === undefined) return false;
    for (let attempts = 1; ; attempts += 1) {
      await inTurns(presentEntriesOf(history).hashInSlices());
      const outcome = await keeper.save(snapshot(), history.journal, isLate);
      if (typeof outcome === 'string') return false;
      if (await this.#switchTo(outcome.overtakenBy)) return true;
      // The state of the other process is of another history: overwrite it.
      if (isLate || attempts === MAX_ATTEMPTS) return false;
    }
  }

  /** Saves the state, because this process may serve no later request of the conversation. Never rejects. */
  async saveInBackground(isLate: boolean = false): Promise<void> {
    if (this.#isEnded) return;
    await this.#save(isLate).catch((error: unknown) => {
      this.#init.logger.debug('what a session has decided or learned is not saved', { error });
    });
  }

  /**
   * If the store is failing, tries once more to save, unless another process has saved since, and without waiting for the store to
   * recover. Resolves when no write is pending. From the call on, `saveInBackground` does nothing: the store may be closed.
   */
  async end(): Promise<void> {
    this.#isEnded = true;
    const { keeper, history, snapshot } = this.#init;
    if (keeper?.isFailing === true) {
      keeper.endPause();
      await keeper.save(snapshot(), history.journal);
    }
    await keeper?.settled();
  }

  /** Continues from the state of another process, if one has saved since. */
  async catchUp(): Promise<void> {
    const { history, keeper } = this.#init;
    const newer = await keeper?.loadNewer(history.journal.digest.names);
    if (newer !== undefined) await this.#switchTo(newer);
  }

  /** Replaces the history with other entries. Throws as `startOver` of `resume.ts` does. */
  async startOver(given: readonly IContent[]): Promise<StateReport | undefined> {
    const { history, keeper, snapshot, adopt } = this.#init;
    // Another process may have landed further edits in the part of the history that stays.
    const newer = await keeper?.loadNewer();
    return startOver(history, { ...this.#init, state: newer ?? snapshot(), given }, adopt);
  }

  #switchTo(state: unknown): Promise<boolean> {
    const { history, keeper, adopt } = this.#init;
    return switchToState(history, { ...this.#init, state }, keeper?.keptEntries ?? 0, adopt);
  }
}
