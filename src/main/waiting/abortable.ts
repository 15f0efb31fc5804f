// Waiting that an AbortSignal, or a time, can end, with one listener on a signal however many wait.

import { setTimeout as sleep } from 'node:timers/promises';

interface Waiting {
  readonly acts: Set<() => void>;
  readonly listener: () => void;
}

/** Who waits for a signal. */
const WAITING = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back once when a signal aborts from now on. Node warns of a leak when a signal has more than ten listeners;
 * any number of sessions may run under one.
 *
 * @returns what calls it off; without that, the signal keeps hold of `act`
 */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  const waiting = WAITING.get(signal) ?? listenTo(signal);
  waiting.acts.add(act);
  return () => {
    waiting.acts.delete(act);
    if (waiting.acts.size > 0 || WAITING.get(signal) !== waiting) return;
    WAITING.delete(signal);
    signal.removeEventListener('abort', waiting.listener);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const acts = new Set<() => void>();
  const listener = (): void => {
    WAITING.delete(signal);
    for (const act of acts) act();
  };
  const waiting = { acts, listener };
  WAITING.set(signal, waiting);
  signal.addEventListener('abort', listener, { once: true });
  return waiting;
}

/**
 * Settles as `promise` does, or rejects with the signal's reason as soon as that aborts; what the
 * promise does afterwards is ignored. Leaves nothing on the signal behind.
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
    let stop: (() => void) | undefined;
    if (signal.aborted) abort();
    else stop = whenAborted(signal, abort);
    promise.then(resolve, reject).finally(() => stop?.());
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
