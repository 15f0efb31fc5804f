// Minimizes a loss by coordinate descent: tries half, the same and double of one number after another until nothing improves.
// Knows nothing of their meaning.

/** Numbers by name. */
export type Numbers = Readonly<Record<string, number>>;

/** Maximum passes over all numbers. */
const MAX_ROUNDS = 3;
/** Values tried for a number that is 0. */
const STEPS_FROM_ZERO = [1, 3] as const;

/**
 * Returns the best numbers found, or the given ones.
 *
 * @param names the numbers that may change
 * @param loss the function to minimize
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
