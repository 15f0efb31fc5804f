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

/** Runs a generator to its end and returns its result, yielding to the event loop whenever a millisecond has passed. */
export function inTurns<Result>(
  slices: Generator<void, Result, undefined>,
  signal?: AbortSignal,
): Promise<Result> {
  return runSlicesInTurns(slices, () => nextTurn(signal));
}
