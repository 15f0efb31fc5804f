// The removal log of a session: records what its edits remove, and restores it. If another process has the log open, for example in a
// fleet whose processes serve a conversation in turns, the session continues but edits nothing until the other process has closed it.

import { asError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import type { EntryChange } from '../history-change.js';
import type { Logger } from '../host/logger.js';
import { isWriteFailure, writerClosed } from './removal-log-errors.js';
import { RemovalLog } from './removal-log.js';
import type { RemovalDraft } from './removal-record.js';
import { restore } from './restore.js';
import type { RestoredResponse } from './restore.js';
import type { SessionScope } from './session-scope.js';

type OpenRemovalLog = Pick<RemovalLog, 'path' | 'append' | 'restore' | 'close'>;

export interface SessionLogOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly logger: Logger;
}

/** Opens the removal log of a session. Throws as `RemovalLog.open` does, except if another process has the log open. */
export async function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  try {
    return new SessionLog(options, await RemovalLog.open(options.path));
  } catch (error) {
    const isElsewhere =
      isWriteFailure(error) && asRecord(error.cause)?.['isLockedElsewhere'] === true;
    if (!isElsewhere) throw error;
    return new SessionLog(options, error);
  }
}

/**
 * While another process has the log open, each edit is refused, and tries in the background to open the log for the next one, because
 * finding out takes seconds.
 */
export class SessionLog {
  readonly path: string;
  readonly #options: SessionLogOptions;
  /** The log, or why it could not be opened. */
  #log: OpenRemovalLog | Error;
  #isOpening = false;
  #isClosed = false;
  #isFailing = false;
  #failure: Error | undefined;

  /** @param log the open log, or the error if another process has it open */
  constructor(options: SessionLogOptions, log: OpenRemovalLog | Error) {
    this.path = log instanceof Error ? options.path : log.path;
    this.#options = options;
    this.#log = log;
  }

  /**
   * Records changes. They may be applied only after this resolved.
   *
   * @param kind `pruned` entry by entry, or `compressed` together with others
   * @param signal removes the changes from the queue, unless they are being written
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED` or `CLOSED`; the signal's reason.
   */
  async record(
    kind: 'pruned' | 'compressed',
    changes: readonly EntryChange[],
    signal?: AbortSignal,
  ): Promise<void> {
    const { sessionId, logger } = this.#options;
    const drafts = changes.map(({ index, before, after }): RemovalDraft => ({
      sessionId,
      kind: kind === 'compressed' ? kind : after === null ? 'removed' : 'replaced',
      index,
      entry: before,
      ...(after !== null && { replacement: after }),
    }));
    try {
      await this.#append(drafts, signal);
      this.#isFailing = false;
    } catch (error) {
      if (isWriteFailure(error) && !this.#isFailing) {
        this.#isFailing = true;
        this.#failure = error;
        logger.warn('the removal log cannot be written: edits are left out', { error });
      }
      throw error;
    }
  }

  /** Returns, once, the first error since writing last succeeded. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Restores as `RemovalLog.restore` does. */
  restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    const log = this.#log;
    return log instanceof Error
      ? restore(this.#options.path, callId, scope)
      : log.restore(callId, scope);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (!(this.#log instanceof Error)) await this.#log.close();
  }

  #append(drafts: readonly RemovalDraft[], signal: AbortSignal | undefined): Promise<void> {
    if (!(this.#log instanceof Error)) return this.#log.append(drafts, signal);
    if (this.#isClosed) return Promise.reject(writerClosed(this.path, 'open another one.'));
    if (!this.#isOpening) void this.#open();
    return Promise.reject(this.#log);
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      const log = await RemovalLog.open(this.#options.path);
      if (this.#isClosed) await log.close();
      else this.#log = log;
    } catch (error) {
      this.#log = asError(error);
    } finally {
      this.#isOpening = false;
    }
  }
}
