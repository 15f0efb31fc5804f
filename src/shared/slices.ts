// Time slicing: work is a generator that yields where it may be interrupted.

/** Runs all slices without a pause and returns the result. */
export function runSlices<Result>(slices: Generator<void, Result, undefined>): Result {
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
  }
}

/** Runs all slices with a pause between them. Rejects if `pause` does. */
export async function runSlicesInTurns<Result>(
  slices: Generator<void, Result, undefined>,
  pause: () => Promise<void>,
): Promise<Result> {
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
    await pause();
  }
}
