// Time slicing: work is a generator that yields where it may be interrupted.

/** Runs all slices without a pause and returns the result. */
export function runSlices<Result>(slices: Generator<void, Result, undefined>): Result {
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
  }
}

/** Milliseconds between two pauses of long work. */
export const SLICE_MS = 1;

/** Runs all slices, with a pause whenever a millisecond has passed: most slices only read the clock. Rejects if `pause` does. */
export async function runSlicesInTurns<Result>(
  slices: Generator<void, Result, undefined>,
  pause: () => Promise<void>,
): Promise<Result> {
  let start = performance.now();
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
    if (performance.now() - start < SLICE_MS) continue;
    await pause();
    start = performance.now();
  }
}
