// Promises that a signal or a deadline can end. A signal gets a single listener, however many promises wait on it.

import { setTimeout as sleep } from 'node:timers/promises';
import { clearImmediate, setImmediate } from './event-loop-turn.js';

interface AbortCallbacks {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Callbacks by signal. */
const ABORT_CALLBACKS = new WeakMap<AbortSignal, AbortCallbacks>();

/**
 * Calls back once if a signal aborts from now on. Node warns of a leak above ten listeners on a signal; any number of sessions
 * may share one.
 *
 * @returns a function that cancels; until then the signal holds a reference to `callback`
 */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  const registered = ABORT_CALLBACKS.get(signal) ?? listenTo(signal);
  registered.callbacks.add(callback);
  return () => {
    registered.callbacks.delete(callback);
    if (registered.callbacks.size > 0 || ABORT_CALLBACKS.get(signal) !== registered) return;
    ABORT_CALLBACKS.delete(signal);
    signal.removeEventListener('abort', registered.listener);
  };
}

function listenTo(signal: AbortSignal): AbortCallbacks {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    ABORT_CALLBACKS.delete(signal);
    for (const callback of callbacks) callback();
  };
  const registered = { callbacks, listener };
  ABORT_CALLBACKS.set(signal, registered);
  signal.addEventListener('abort', listener, { once: true });
  return registered;
}

/**
 * Settles like `promise`, or rejects with the signal's reason as soon as it aborts; the promise's outcome is then ignored.
 * Leaves no listener behind.
 */
export function abortable<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    let stop: (() => void) | undefined;
    if (signal.aborted) abort();
    else stop = whenAborted(signal, abort);
    promise.then(resolve, reject).finally(() => stop?.());
  });
}

/** A promise that the holder of this object settles. Outcomes after the first are ignored. */
export class Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/**
 * Resolves when the promise has settled or the time has passed.
 *
 * @param keepsAlive whether the process stays alive meanwhile @default false
 */
export async function settledWithin(
  timeoutMs: number,
  promise: Promise<unknown>,
  keepsAlive: boolean = false,
): Promise<void> {
  const ended = new AbortController();
  await Promise.race([
    promise.catch(() => undefined),
    sleep(timeoutMs, undefined, { ref: keepsAlive, signal: ended.signal }),
  ]).finally(() => {
    ended.abort();
  });
}

/** The longest delay of a timer, in milliseconds: 24.8 days. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** Signals of work that nobody waits for. */
const BACKGROUND = new WeakSet<AbortSignal>();

/** Makes the controller of work in the background: time limits of that work do not keep the process alive. See `heldWhile`. */
export function backgroundController(): AbortController {
  const controller = new AbortController();
  BACKGROUND.add(controller.signal);
  return controller;
}

/** Whether a signal is that of work in the background, or was joined or limited from it. */
export function isBackground(signal: AbortSignal): boolean {
  return BACKGROUND.has(signal);
}

/** Keeps the process alive until the promise settles, because someone waits for work in the background. */
export async function heldWhile<Value>(promise: Promise<Value>): Promise<Value> {
  const timer = setTimeout(() => undefined, MAX_TIMER_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** A signal that is released when the work it limits has ended. */
export interface LimitedSignal {
  readonly signal: AbortSignal;
  /** Releases the timer and the caller's signal. */
  readonly stop: () => void;
}

/** Runs work with a signal that aborts with the first of several. */
export async function withSignals<Value>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const joined = joinSignals(signals);
  try {
    return await work(joined.signal);
  } finally {
    joined.stop();
  }
}

/** Joins signals until stopped. Does not use `AbortSignal.any`, because the given signals may live long and must be released. */
function joinSignals(given: readonly (AbortSignal | undefined)[]): LimitedSignal {
  const signals = given.filter((signal) => signal !== undefined);
  const [only] = signals;
  // Fast path for nearly every turn: making a signal with listeners takes 10 µs.
  if (only !== undefined && signals.length === 1) return { signal: only, stop: () => undefined };
  const controller = new AbortController();
  if (signals.some(isBackground)) BACKGROUND.add(controller.signal);
  const stops = signals.map((signal) => {
    const pass = (): void => {
      controller.abort(signal.reason);
    };
    if (signal.aborted) pass();
    return whenAborted(signal, pass);
  });
  const stop = (): void => {
    for (const stopListening of stops) stopListening();
  };
  return { signal: controller.signal, stop };
}

/**
 * If a timer fires this late, the process was suspended or its thread was blocked. Timers fire before input that arrived meanwhile is
 * read, so a deadline is then extended by the grace period, in which the answer can be read.
 */
const LATE_TIMER_MS = 50;
const GRACE_MS = 1_000;

/**
 * Calls back after `timeoutMs`, unless cancelled; up to 1 s later if the process stood still when the time had passed. The last turn
 * of the event loop before that reads what has just arrived. Keeps the process alive, because someone is waiting.
 */
export class Deadline {
  #timer: NodeJS.Timeout | undefined;
  #lastCall: NodeJS.Immediate | undefined;

  /** @param isBackground whether nobody waits, so that the process may end @default false */
  constructor(timeoutMs: number, onExpire: () => void, isBackground: boolean = false) {
    // A timer with a longer delay would fire at once.
    const delayMs = Math.min(timeoutMs, MAX_TIMER_MS);
    const dueMs = performance.now() + delayMs;
    const start = (callback: () => void, ms: number): void => {
      this.#timer = setTimeout(callback, ms);
      if (isBackground) this.#timer.unref();
    };
    const expire = (): void => {
      this.#lastCall = setImmediate(onExpire);
    };
    start(() => {
      if (performance.now() - dueMs < LATE_TIMER_MS) expire();
      else start(expire, Math.min(delayMs, GRACE_MS));
    }, delayMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastCall);
  }
}

/**
 * Makes a signal that aborts with the caller's reason, or with `timeoutError()` after `timeoutMs`, unless stopped before. Does not use
 * `AbortSignal.timeout`, whose timer does not keep the process alive while someone waits; only with a signal of the background, this
 * one does not either.
 */
export function limitSignal(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
): LimitedSignal {
  const late = new AbortController();
  const joined = joinSignals([signal, late.signal]);
  const expire = (): void => {
    late.abort(timeoutError());
  };
  const deadline = new Deadline(timeoutMs, expire, isBackground(joined.signal));
  const stop = (): void => {
    deadline.cancel();
    joined.stop();
  };
  return { signal: joined.signal, stop };
}

/**
 * Runs work under a deadline. Its signal aborts with the caller's reason, or with `timeoutError()` after `timeoutMs`; the
 * promise then rejects with the same, even if the work ignores its signal.
 */
export async function withDeadline<Value>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal?.throwIfAborted();
  const limited = limitSignal(timeoutMs, signal, timeoutError);
  try {
    return await abortable(work(limited.signal), limited.signal);
  } finally {
    limited.stop();
  }
}
