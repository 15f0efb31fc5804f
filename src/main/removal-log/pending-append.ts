// An append on its way: waiting and abortable, then being written, then settled.

import { whenAborted } from '../waiting/abortable.js';
import type { RemovalDraft } from './removal-record.js';

/** Records that are appended together. Settles once; what comes after that is ignored. */
export interface PendingAppend {
  readonly drafts: readonly RemovalDraft[];
  readonly isSettled: boolean;
  /** Its write begins: from now on a signal has no effect. */
  begin(): void;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Puts records at the end of a queue. The promise settles with the append; when the signal aborts
 * before it has begun, the append leaves the queue and the promise rejects with the signal's reason.
 */
export function enqueueAppend(
  queue: Set<PendingAppend>,
  drafts: readonly RemovalDraft[],
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      // Whatever the caller chose as the reason is what they get.
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
