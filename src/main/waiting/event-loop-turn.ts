// Yields to the event loop during long work. Uses the functions that Node had when this module was loaded: tests that replace
// the globals (fake timers) must not make a compactor wait forever. Deadlines do follow fake timers.

import timers from 'node:timers';
import { runSlicesInTurns } from '../../shared/slices.js';

/** Resolves in the next turn of the event loop. @throws the signal's reason if it has aborted by then. */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}

export const setImmediate: typeof timers.setImmediate = timers.setImmediate;
export const clearImmediate: typeof timers.clearImmediate = timers.clearImmediate;

/** Work that waits for its next turn. */
interface Waiting {
  readonly order: number;
  readonly signal: AbortSignal | undefined;
  readonly goOn: () => void;
}

/** Length above which work is that of opening a history; what a turn of a known conversation adds is shorter. */
const MAX_SHORT = 32;
const BEHIND_SHORT: number = 2 ** 52;

let begun = 0;
const waiting = new Set<Waiting>();

/**
 * Begins work that takes several turns of the event loop, and returns the function by which it waits for the next one. Each turn is
 * given to one such work only, to the oldest: by turns, many that begin at once would all be done late. Short work goes first.
 *
 * @param length how many entries or messages the work goes through
 */
export function beginWork(length: number, signal?: AbortSignal): () => Promise<void> {
  begun += 1;
  const order = length > MAX_SHORT ? begun + BEHIND_SHORT : begun;
  return async () => {
    await new Promise<void>((goOn) => {
      if (waiting.size === 0) setImmediate(goOnWithFirst);
      waiting.add({ order, signal, goOn });
    });
    signal?.throwIfAborted();
  };
}

function goOnWithFirst(): void {
  const all = [...waiting];
  // Aborted work only has to end.
  const aborted = all.find(({ signal }) => signal?.aborted === true);
  const first = aborted ?? all.reduce((one, other) => (other.order < one.order ? other : one));
  waiting.delete(first);
  if (waiting.size > 0) setImmediate(goOnWithFirst);
  first.goOn();
}

/**
 * Runs a generator to its end and returns its result, yielding to the event loop whenever a millisecond has passed.
 *
 * @param length see `beginWork` @default short
 */
export function inTurns<Result>(
  slices: Generator<void, Result, undefined>,
  length: number = 0,
  signal?: AbortSignal,
): Promise<Result> {
  return runSlicesInTurns(slices, beginWork(length, signal));
}
