// Keeps a session's history in step with other processes that serve the same conversation, by its state in their store.

import type { IContent } from '../../shared/content.js';
import type { Logger } from '../host/logger.js';
import type { HistoryService } from '../history-service.js';
import { startOver, switchToState } from './resume.js';
import type { HistoryStartOptions, StateReport } from './resume.js';
import type { SessionMemory, SessionState } from './session-state.js';
import { standInSlices } from './standing-key.js';
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
  /** Told right before the history changes to what another process has made of it. */
  readonly onSwitch: () => void;
  /** Gets the memory of another session that this one continues. */
  readonly adopt: (memory: SessionMemory) => void;
}

/** Under the name that the conversation had, and under the present one, there may be a state of another history each. */
const MAX_ATTEMPTS = 3;

export class SharedHistory {
  readonly #init: SharedHistoryInit;
  #isEnded = false;

  constructor(init: SharedHistoryInit) {
    this.#init = init;
  }

  /**
   * Saves the state. Returns whether another process was faster and the history now continues from its state.
   *
   * @param isLate whether the conversation may have gone on elsewhere: then what others have saved stays @default false
   */
  async save(isLate: boolean = false): Promise<boolean> {
    const { keeper, history, snapshot } = this.#init;
    if (keeper === undefined) return false;
    for (let attempts = 1; ; attempts += 1) {
      await inTurns(standInSlices(history));
      const outcome = await keeper.save(snapshot(), history.journal, isLate);
      if (typeof outcome === 'string') return false;
      if (await this.#switchTo(outcome.overtakenBy)) return true;
      // The winner's state is of another history: save this one over it.
      if (isLate || attempts === MAX_ATTEMPTS) return false;
    }
  }

  /**
   * Saves what a report has taught: this process may serve no other request of the conversation. Never rejects.
   */
  async saveLearned(): Promise<void> {
    if (this.#isEnded) return;
    await this.save(true).catch((error: unknown) => {
      this.#init.logger.debug('what a report has taught is not saved', { error });
    });
  }

  /**
   * Saves what the store would not take, unless another process has saved since, and resolves when no write is pending. Does not wait for
   * the store to recover. From then on nothing is saved: the store may be closed.
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

  /** Replaces the history by other entries. Throws as `startOver` does. */
  async startOver(given: readonly IContent[]): Promise<StateReport | undefined> {
    const { history, keeper, snapshot, adopt } = this.#init;
    // Another process may have decided more about what stays of the history.
    const newer = await keeper?.loadNewer();
    return startOver(history, { ...this.#init, state: newer ?? snapshot(), given }, adopt);
  }

  #switchTo(state: unknown): Promise<boolean> {
    const { history, keeper, adopt } = this.#init;
    const sharedEntries = keeper?.keptEntries ?? 0;
    return switchToState(history, { ...this.#init, state, sharedEntries }, adopt);
  }
}
