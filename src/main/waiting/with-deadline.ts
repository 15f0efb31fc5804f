// Waiting that ends: by the work, by the caller's signal, or by the clock.

import { abortable, whenAborted } from './abortable.js';

/** The longest time that a timer can wait, in milliseconds: 24.8 days. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** Settles as a promise does, or rejects with what `timeoutError` makes once `timeoutMs` have passed. */
export function endsWithin<Value>(
  timeoutMs: number,
  timeoutError: () => Error,
  promise: PromiseLike<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(timeoutMs, () => {
      reject(timeoutError());
    });
    void promise.then(resolve, reject).then(() => {
      clearTimeout(timer);
    });
  });
}

/**
 * Runs work under a deadline. The signal that the work gets aborts with the caller's reason, or with
 * what `timeoutError` makes once `timeoutMs` have passed; the promise then rejects with the same, even
 * when the work does not heed its signal.
 */
export async function withDeadline<Value>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const pass = (): void => {
    controller.abort(signal?.reason);
  };
  // Not AbortSignal.any: the listener has to be gone when the work is, however long the signal lives.
  const stop = signal && whenAborted(signal, pass);
  const timer = startTimer(timeoutMs, () => {
    controller.abort(timeoutError());
  });
  try {
    return await abortable(work(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}

/** A timer that is to wait longer than it can fires at once. */
function startTimer(timeoutMs: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(timeoutMs, MAX_TIMER_MS));
}
