// The states of an append: queued and abortable, then being written, then settled.

import { whenAborted } from '../waiting/abortable.js';
import type { RemovalDraft } from './removal-record.js';

/** Records that are appended together. Settles once; later calls are no-ops. */
export interface PendingAppend {
  readonly drafts: readonly RemovalDraft[];
  readonly isSettled: boolean;
  /** Marks the start of its write; from then on the signal has no effect. */
  begin(): void;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Adds records to the end of a queue. The promise settles with the append. If the signal aborts before
 * the write begins, the append leaves the queue and the promise rejects with the signal's reason.
 */
export function enqueueAppend(
  queue: Set<PendingAppend>,
  drafts: readonly RemovalDraft[],
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    let isSettled = false;
    let ignoreSignal = (): void => undefined;
    const settle = (act: () => void): void => {
      isSettled = true;
      ignoreSignal();
      act();
    };
    const append: PendingAppend = {
      drafts,
      get isSettled() {
        return isSettled;
      },
      begin: () => {
        ignoreSignal();
      },
      resolve: () => settle(resolve),
      reject: (error) => settle(() => reject(error)),
    };
    const abort = (): void => {
      queue.delete(append);
      append.reject(signal?.reason as Error);
    };
    if (signal !== undefined) ignoreSignal = whenAborted(signal, abort);
    queue.add(append);
  });
}
