// Describes what a rewritten history keeps of the former one as stretches of entries or table rows
// to copy. Most edits leave only a few, however long the history is.

import { NONE } from './history-columns.js';
import type { IntColumn, Stretch } from './history-columns.js';

/** Collects stretches of entries in their new order. */
export class EntryStretches {
  readonly #stretches: Stretch[] = [];
  #length = 0;
  #end = 0;

  get length(): number {
    return this.#length;
  }

  /** The highest former index added so far, exclusive. */
  get end(): number {
    return this.#end;
  }

  /** Appends the former entries from `start` to `end`, exclusive. */
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

/** The rows of these entries in a table sorted by `entryOfRow`. */
export function stretchesOfRows(
  entryOfRow: IntColumn,
  entries: readonly Stretch[],
): readonly Stretch[] {
  const rows: Stretch[] = [];
  for (const { start, end, shift } of entries) {
    const startRow = firstRowFrom(entryOfRow, start);
    const endRow = firstRowFrom(entryOfRow, end);
    if (startRow < endRow) rows.push({ start: startRow, end: endRow, shift });
  }
  return rows;
}

/** The first row at or after an entry, in a table sorted by entry. Binary search. */
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

/** The row of a block in a table, or `NONE`. */
export function rowAt(
  table: { readonly entry: IntColumn; readonly block: IntColumn },
  entry: number,
  block: number,
): number {
  let row = firstRowFrom(table.entry, entry);
  for (; row < table.entry.length && table.entry.at(row) === entry; row += 1) {
    if (table.block.at(row) === block) return row;
  }
  return NONE;
}

/**
 * Describes what an edit leaves.
 *
 * @param length entries before the edit; new entries are numbered from there
 * @param removals indices of removed entries, ascending
 * @param replaced indices of replaced entries, ascending, disjoint from `removals`
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
    if (edited === removed) {
      removal += 1;
      continue;
    }
    stretches.add(length + replacement, length + replacement + 1);
    replacement += 1;
  }
  return stretches;
}

/** Describes a rewrite; `sources` as in the `rewrite` of `DeltaStep`. */
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
