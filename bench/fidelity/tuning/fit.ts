// Finds numbers that make a loss small: one number after the other, each at half, the same and double, until none gets
// better. Knows nothing of what they mean.

/** Numbers by name. */
export type Numbers = Readonly<Record<string, number>>;

/** So often all numbers are gone through. */
const MAX_ROUNDS = 3;
/** What a number of 0 is tried as. */
const STEPS_FROM_ZERO = [1, 3] as const;

/**
 * Returns the best numbers that were found, the given ones where nothing is better.
 *
 * @param names which of them may change
 * @param loss what is to be small
 */
export function fit<T extends Numbers>(
  start: T,
  names: readonly (keyof T & string)[],
  loss: (numbers: T) => number,
): T {
  let best = start;
  let least = loss(best);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = least;
    for (const name of names) {
      for (const value of neighboursOf(best[name] ?? 0)) {
        const candidate = { ...best, [name]: value };
        const tried = loss(candidate);
        if (tried >= least) continue;
        best = candidate;
        least = tried;
      }
    }
    if (least === before) break;
  }
  return best;
}

function neighboursOf(value: number): readonly number[] {
  return value === 0 ? STEPS_FROM_ZERO : [value / 2, value * 2];
}
