// Says an edit as the list of entries that are left and where each of them comes from.

import { NONE } from '../shared/density/history-columns.js';

/**
 * Returns, by entry of the history after the edit, its index before, or `NONE` for a replacement.
 *
 * @param length entries of the history before
 * @param removals indices of the entries that go, ascending
 * @param replaced indices of those that others take the place of, ascending
 */
export function sourcesOfEdit(
  length: number,
  removals: Int32Array,
  replaced: Int32Array,
): Int32Array {
  const sources = new Int32Array(length - removals.length);
  let removal = 0;
  let replacement = 0;
  let write = 0;
  for (let entry = 0; entry < length; entry += 1) {
    if (removals[removal] === entry) {
      removal += 1;
      continue;
    }
    const isReplaced = replaced[replacement] === entry;
    if (isReplaced) replacement += 1;
    sources[write] = isReplaced ? NONE : entry;
    write += 1;
  }
  return sources;
}
