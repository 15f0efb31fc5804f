// Numbers between two others, evenly spread and both ends included. `fc.double` is even over representations of floats: nearly all
// of its draws between 0 and 1 are next to one of them.

import fc from 'fast-check';

const STEPS = 1_000;

/** A number from `min` to `max`. */
export function arbitraryRatio(min: number = 0, max: number = 1): fc.Arbitrary<number> {
  const within = fc.nat(STEPS).map((step) => min + ((max - min) * step) / STEPS);
  return fc.oneof({ weight: 18, arbitrary: within }, fc.constant(min), fc.constant(max));
}
