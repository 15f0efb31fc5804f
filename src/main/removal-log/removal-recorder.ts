// Records what the edits of a session remove, and keeps the first of consecutive failures. The preflight decides what
// happens to an edit that cannot be recorded.

import type { EntryChange } from '../history-change.js';
import type { Logger } from '../host/logger.js';
import { isWriteFailure } from './removal-log-errors.js';
import type { RemovalLog } from './removal-log.js';
import type { RemovalDraft } from './removal-record.js';

export interface RemovalRecorderOptions {
  readonly sessionId: string;
  readonly removalLog: Pick<RemovalLog, 'append'>;
  readonly logger: Logger;
}

/** Records the changes of one session. */
export class RemovalRecorder {
  readonly #options: RemovalRecorderOptions;
  #isFailing = false;
  #failure: Error | undefined;

  constructor(options: RemovalRecorderOptions) {
    this.#options = options;
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
    const { sessionId, removalLog, logger } = this.#options;
    const drafts = changes.map(({ index, before, after }): RemovalDraft => ({
      sessionId,
      kind: kind === 'compressed' ? kind : after === null ? 'removed' : 'replaced',
      index,
      entry: before,
      ...(after !== null && { replacement: after }),
    }));
    try {
      await removalLog.append(drafts, { signal });
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
}
