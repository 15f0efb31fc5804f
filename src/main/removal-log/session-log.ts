// The removal log of a session. If another process has it open, for example in a fleet whose processes serve a conversation in turns,
// the session continues but edits nothing until the other process has closed the log.

import { asError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import { isWriteFailure, writerClosed } from './removal-log-errors.js';
import { RemovalLog } from './removal-log.js';
import { restore } from './restore.js';

/** The part of a removal log that a session uses. */
export type SessionLog = Pick<RemovalLog, 'path' | 'append' | 'restore' | 'close'>;

/** Opens the removal log of a session. Throws as `RemovalLog.open` does, except if another process has the log open. */
export async function openSessionLog(path: string): Promise<SessionLog> {
  try {
    return await RemovalLog.open(path);
  } catch (error) {
    if (!isWriteFailure(error) || !isLockedElsewhere(error.cause)) throw error;
    return new LockedLog(path, error);
  }
}

/**
 * A log that another process has open. Rejects each append until it could open the file, which each rejected append tries in the
 * background, because finding out takes seconds.
 */
class LockedLog implements SessionLog {
  readonly path: string;
  #failure: Error;
  #log: RemovalLog | undefined;
  #isOpening = false;
  #isClosed = false;

  constructor(path: string, failure: Error) {
    this.path = path;
    this.#failure = failure;
  }

  append(...args: Parameters<RemovalLog['append']>): Promise<void> {
    if (this.#log !== undefined) return this.#log.append(...args);
    if (this.#isClosed) return Promise.reject(writerClosed(this.path, 'open another one.'));
    if (!this.#isOpening) void this.#open();
    return Promise.reject(this.#failure);
  }

  restore(
    ...[callId, scope]: Parameters<RemovalLog['restore']>
  ): ReturnType<RemovalLog['restore']> {
    return this.#log?.restore(callId, scope) ?? restore(this.path, callId, scope);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#log?.close();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      const log = await RemovalLog.open(this.path);
      if (this.#isClosed) await log.close();
      else this.#log = log;
    } catch (error) {
      this.#failure = asError(error);
    } finally {
      this.#isOpening = false;
    }
  }
}

function isLockedElsewhere(cause: unknown): boolean {
  return asRecord(cause)?.['isLockedElsewhere'] === true;
}
