// Waiting that an AbortSignal, or a time, can end.

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Settles as `promise` does, or rejects with the signal's reason as soon as that aborts; what the
 * promise does afterwards is ignored. Leaves no listener on the signal behind.
 */
export function abortable<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      // Whatever the caller chose as the reason is what they get.
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}

/** Resolves when the promise has ended, well or not, or so many milliseconds have passed; keeps no process alive. */
export async function settledWithin(timeoutMs: number, promise: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([
    promise.catch(() => undefined),
    sleep(timeoutMs, undefined, { ref: false, signal: ended.signal }),
  ]).finally(() => {
    ended.abort();
  });
}
