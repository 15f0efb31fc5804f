// Byte pair merging of words of any length: how a long one is put together from windows. It counts tokens and does not
// say which.

import { runSlices } from '../slices.js';
import { MergeWindow } from './merge-window.js';
import type { TokenTable } from './token-table.js';

/** Bytes that are merged at a time: several times the longest token, so that windows agree soon. */
const WINDOW_BYTES = 1024;
/** Of a window, the part that the next one overlaps: a quarter. */
const OVERLAP_SHIFT = 2;
/** Windows that are merged before others get a turn, in about 5 ms. */
const SLICE_WINDOWS = 32;

/** Counts the tokens of words, in time linear in their length. */
export class BytePairMerger {
  readonly #table: TokenTable;
  readonly #window: MergeWindow;

  /** @param windowBytes how many bytes are merged at a time */
  constructor(table: TokenTable, windowBytes: number = WINDOW_BYTES) {
    this.#table = table;
    this.#window = new MergeWindow(table, windowBytes);
  }

  /** How many tokens the bytes from `start` to before `end` have. */
  countTokens(bytes: Uint8Array, start: number, end: number): number {
    return end - start <= this.#window.size
      ? this.#window.merge(bytes, start, end)
      : runSlices(this.countInSlices(bytes, start, end));
  }

  /** The same; yields where others may have a turn, and may count meanwhile. The bytes have to stay as they are. */
  *countInSlices(
    bytes: Uint8Array,
    start: number,
    end: number,
  ): Generator<void, number, undefined> {
    // Windows that never agree take larger ones, at last one of the whole word.
    for (let { size } = this.#window; ; size *= 2) {
      const windows = [
        new MergeWindow(this.#table, size),
        new MergeWindow(this.#table, size),
      ] as const;
      const count = yield* countInWindows(windows, bytes, start, end);
      if (count !== undefined) return count;
    }
  }
}

/**
 * Tokens are those of a word exactly if any two neighbours, merged on their own, are the same two: the first merge across an
 * end of theirs in the word would be one in these two as well. So the tokens of two windows, the second of which begins with a
 * token of the first, are put together at a token that both have. Returns `undefined` where they share none.
 */
function* countInWindows(
  windows: readonly [MergeWindow, MergeWindow],
  bytes: Uint8Array,
  start: number,
  end: number,
): Generator<void, number | undefined, undefined> {
  let [window, following] = windows;
  const { size } = window;
  let count = 0;
  // Up to here the tokens are counted.
  let from = start;
  window.merge(bytes, start, Math.min(start + size, end));
  for (let merged = 1; window.end < end; merged += 1) {
    let at = from;
    const overlap = window.end - (size >> OVERLAP_SHIFT);
    for (let next = window.after(at); next <= overlap; next = window.after(at)) {
      at = next;
      count += 1;
    }
    following.merge(bytes, at, Math.min(at + size, end));
    let other = at;
    while (at !== other || window.after(at) !== following.after(other)) {
      if (at < other) {
        at = window.after(at);
        count += 1;
      } else {
        other = following.after(other);
      }
      if (at >= window.end) return undefined;
    }
    count += 1;
    from = window.after(at);
    [window, following] = [following, window];
    if (merged % SLICE_WINDOWS === 0) yield;
  }
  for (let at = from; at < end; at = window.after(at)) count += 1;
  return count;
}
