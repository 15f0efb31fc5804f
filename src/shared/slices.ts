// Work in slices: a generator that yields wherever others may have a turn.

/** Runs what yields to the end without a pause, and returns what it returns. */
export function runSlices<Result>(slices: Generator<void, Result, undefined>): Result {
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
  }
}

/** The same with a pause wherever it yields. Rejects as `pause` does. */
export async function runSlicesInTurns<Result>(
  slices: Generator<void, Result, undefined>,
  pause: () => Promise<void>,
): Promise<Result> {
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done === true) return slice.value;
    await pause();
  }
}
