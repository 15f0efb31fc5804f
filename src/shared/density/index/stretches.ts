// Says what a rewritten history has of the former one: stretches of entries, or of a table's rows, that are copied
// as they are. However long a history is, most edits leave only a few of them.

import type { IntColumn } from './history-columns.js';
import { NONE } from './history-columns.js';

/** Entries or rows of the former history that stand side by side in the new one as well. */
export interface Stretch {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** What has to be added to the index of an entry to give its new one. */
  readonly shift: number;
}

/** Puts stretches of entries one behind the other. */
export class EntryStretches {
  readonly #stretches: Stretch[] = [];
  #length = 0;
  #end = 0;

  /** Entries that were added. */
  get length(): number {
    return this.#length;
  }

  /** Where the last of them ends in the former history. */
  get end(): number {
    return this.#end;
  }

  /** Adds the former entries from `start` to `end`, which is exclusive. */
  add(start: number, end: number): void {
    if (start >= end) return;
    const last = this.#stretches.at(-1);
    if (last?.end === start) this.#stretches[this.#stretches.length - 1] = { ...last, end };
    else this.#stretches.push({ start, end, shift: this.#length - start });
    this.#length += end - start;
    this.#end = Math.max(this.#end, end);
  }

  list(): readonly Stretch[] {
    return this.#stretches;
  }
}

/** The rows of these entries in a table, whose entries are `entryOfRow`, ascending. */
export function stretchesOfRows(
  entryOfRow: IntColumn,
  entries: readonly Stretch[],
): readonly Stretch[] {
  const rows: Stretch[] = [];
  if (entryOfRow.length === 0) return rows;
  for (const { start, end, shift } of entries) {
    const startRow = firstRowFrom(entryOfRow, start);
    const endRow = firstRowFrom(entryOfRow, end);
    if (startRow < endRow) rows.push({ start: startRow, end: endRow, shift });
  }
  return rows;
}

/** The first row of an entry, or of those behind it, in a table whose entries ascend. */
export function firstRowFrom(entryOfRow: IntColumn, entry: number): number {
  let low = 0;
  let high = entryOfRow.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entryOfRow.at(middle) < entry) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
