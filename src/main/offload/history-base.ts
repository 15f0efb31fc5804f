// The part of a history that a base speaks of.

import type { IContent } from '../../shared/content.js';
import type { DensityBase } from '../../shared/density.js';

/**
 * Returns the first `base.length` entries as an array of its own, which no later edit of the history
 * reaches; entries themselves never change.
 *
 * @throws RangeError when the history is shorter than its base.
 */
export function entriesOfBase(
  history: readonly IContent[],
  base: DensityBase,
): readonly IContent[] {
  const { length } = base;
  if (Number.isInteger(length) && length >= 0 && length <= history.length) {
    return history.slice(0, length);
  }
  throw new RangeError(
    `Expected a base of 0 to ${history.length} entries, which the history has, got ${String(length)}.`,
  );
}
