// Uniform numbers in a closed interval. `fc.double` is uniform over float representations, so nearly all of its draws
// between 0 and 1 are close to an end.

import fc from 'fast-check';

const STEPS = 1_000;

/** Generates numbers from `min` to `max`. */
export function arbitraryRatio(min: number = 0, max: number = 1): fc.Arbitrary<number> {
  const within = fc.nat(STEPS).map((step) => min + ((max - min) * step) / STEPS);
  return fc.oneof({ weight: 18, arbitrary: within }, fc.constant(min), fc.constant(max));
}
