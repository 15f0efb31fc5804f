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
  assertCovers(history, base);
  return history.slice(0, base.length);
}

/**
 * Returns the first `base.length` entries for use before anything else can run: the history itself
 * when it has no more, so that a pass in every turn does not copy a long list in every turn.
 *
 * @throws RangeError when the history is shorter than its base.
 */
export function viewOfBase(history: readonly IContent[], base: DensityBase): readonly IContent[] {
  assertCovers(history, base);
  return base.length === history.length ? history : history.slice(0, base.length);
}

function assertCovers(history: readonly IContent[], { length }: DensityBase): void {
  if (Number.isInteger(length) && length >= 0 && length <= history.length) return;
  throw new RangeError(
    `Expected a base of 0 to ${history.length} entries, which the history has, got ${String(length)}.`,
  );
}
