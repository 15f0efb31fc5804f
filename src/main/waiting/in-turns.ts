// Work in slices on the thread of the turn loop: a turn of the event loop comes whenever one has taken a millisecond.

import { runSlicesInTurns } from '../../shared/slices.js';
import { nextTurn } from './event-loop-turn.js';

const SLICE_MS = 1;

/** Runs what yields to its end, and returns what it returns. */
export async function inTurns<Result>(slices: Generator<void, Result, undefined>): Promise<Result> {
  let start = performance.now();
  return runSlicesInTurns(slices, async () => {
    if (performance.now() - start < SLICE_MS) return;
    await nextTurn();
    start = performance.now();
  });
}
