// Says a change as a choice among the entries that were there and those that come in, as if these stood
// behind the others.

import { NONE } from './history-columns.js';
import { EntryStretches } from './stretches.js';

/**
 * Returns what is left by an edit.
 *
 * @param length entries of the history before; those that come in follow there
 * @param removals indices of the entries that go, ascending
 * @param replaced indices of those that others take the place of, ascending, none of them among `removals`
 */
export function stretchesOfEdit(
  length: number,
  removals: Int32Array,
  replaced: Int32Array,
): EntryStretches {
  const stretches = new EntryStretches();
  let removal = 0;
  let replacement = 0;
  let start = 0;
  while (start < length) {
    const removed = removals[removal] ?? length;
    const edited = Math.min(removed, replaced[replacement] ?? length);
    stretches.add(start, edited);
    start = edited + 1;
    if (edited === length) break;
    if (edited === removed) {
      removal += 1;
      continue;
    }
    stretches.add(length + replacement, length + replacement + 1);
    replacement += 1;
  }
  return stretches;
}

/** Returns what a rewrite makes of a history: `sources` as in a `rewrite` of `DeltaStep`. */
export function stretchesOfRewrite(length: number, sources: Int32Array): EntryStretches {
  const stretches = new EntryStretches();
  let next = length;
  for (const source of sources) {
    const entry = source === NONE ? next : source;
    if (source === NONE) next += 1;
    stretches.add(entry, entry + 1);
  }
  return stretches;
}
