// Work in slices on the thread of the turn loop: a turn of the event loop comes whenever one has taken a millisecond.

import { nextTurn } from './event-loop-turn.js';

const SLICE_MS = 1;

/** Runs what yields to its end, and returns what it returns. Waits only where a turn is due: most yields are looks at the clock. */
export async function inTurns<Result>(slices: Generator<void, Result, undefined>): Promise<Result> {
  let start = performance.now();
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
    if (performance.now() - start < SLICE_MS) continue;
    await nextTurn();
    start = performance.now();
  }
}
