// Byte pair merging of words of any length. Merges a window of bytes with a heap, and combines overlapping windows for long
// words. Counts tokens, but does not return them.

import { runSlices } from '../slices.js';
import { NO_RANK } from './token-table.js';
import type { TokenTable } from './token-table.js';

/** Bytes merged at a time: several times the longest token, so that overlapping windows agree soon. */
const WINDOW_BYTES = 1024;
/** Windows overlap by a quarter. */
const OVERLAP_SHIFT = 2;
/** Windows merged between two yields: about 5 ms. */
const SLICE_WINDOWS = 32;

/** Counts the tokens of words, in time linear in their length. */
export class BytePairMerger {
  readonly #table: TokenTable;
  readonly #window: MergeWindow;

  /** @param windowBytes bytes merged at a time */
  constructor(table: TokenTable, windowBytes: number = WINDOW_BYTES) {
    this.#table = table;
    this.#window = new MergeWindow(table, windowBytes);
  }

  /** The number of tokens of the bytes from `start` to before `end`. */
  countTokens(bytes: Uint8Array, start: number, end: number): number {
    return end - start <= this.#window.size
      ? this.#window.merge(bytes, start, end)
      : runSlices(this.countInSlices(bytes, start, end));
  }

  /** `countTokens` in slices; other words may be counted between them. The bytes must not change meanwhile. */
  *countInSlices(
    bytes: Uint8Array,
    start: number,
    end: number,
  ): Generator<void, number, undefined> {
    // If windows do not agree, tries larger ones, finally one for the whole word.
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
 * A sequence of tokens is that of a word if and only if any two neighbours, merged on their own, stay the same two: the first
 * merge across a boundary in the word would also happen in those two. So the tokens of two windows, the second of which starts
 * at a token of the first, can be joined at a token that both have. Returns `undefined` if they share none.
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
  // Tokens before this offset are counted.
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

/** A heap key is rank × `RANK_UNIT` + position of a part, which takes 32 bits. */
const RANK_UNIT = 2 ** 32;

/**
 * Merges the adjacent parts whose token has the lowest rank, leftmost first, until no two form a token. In O(n log n),
 * without garbage. Source: tiktoken, `_byte_pair_merge`, which scans all pairs for each merge instead of keeping a heap.
 */
class MergeWindow {
  /** Maximum number of bytes to merge. */
  readonly size: number;
  readonly #table: TokenTable;
  #start = 0;
  #end = 0;
  /** By the start of a part: the starts of the next and the previous one. */
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  /** By the start of a part: the rank of its token with the next one. */
  readonly #ranks: Int32Array;
  /** A binary heap of keys. A key is stale if its rank is no longer that of its position. */
  readonly #heap: Float64Array;
  #heapSize = 0;

  constructor(table: TokenTable, size: number) {
    this.size = size;
    this.#table = table;
    this.#next = new Int32Array(size + 1);
    this.#previous = new Int32Array(size + 1);
    this.#ranks = new Int32Array(size + 1);
    // Initially one key per pair; each merge adds at most two.
    this.#heap = new Float64Array(3 * (size + 1));
  }

  /** The end of the bytes merged last. */
  get end(): number {
    return this.#end;
  }

  /** The end of the token that starts at `at`, in the bytes merged last. */
  after(at: number): number {
    return this.#start + (this.#next[at - this.#start] ?? 0);
  }

  /** The number of tokens of the bytes from `start` to before `end`, at most `size` bytes. */
  merge(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    const next = this.#next;
    const previous = this.#previous;
    this.#start = start;
    this.#end = end;
    this.#heapSize = 0;
    for (let at = 0; at < length; at += 1) {
      next[at] = at + 1;
      previous[at] = at - 1;
      this.#note(at, at + 2 <= length ? this.#table.rankOfPair(bytes, start + at) : NO_RANK);
    }
    let count = length;
    while (this.#heapSize > 0) {
      const key = this.#pop();
      // The low 32 bits.
      const at = key >>> 0;
      if ((this.#ranks[at] ?? 0) * RANK_UNIT + at !== key) continue;
      const gone = next[at] ?? 0;
      const after = next[gone] ?? 0;
      next[at] = after;
      this.#ranks[gone] = NO_RANK;
      count -= 1;
      this.#rate(bytes, at, after < length ? (next[after] ?? 0) : 0);
      if (after < length) previous[after] = at;
      if (at > 0) this.#rate(bytes, previous[at] ?? 0, after);
    }
    return count;
  }

  /** Sets the rank of the part at `from` with the next one, which ends at `to`; 0 if there is none. */
  #rate(bytes: Uint8Array, from: number, to: number): void {
    const start = this.#start;
    this.#note(from, to === 0 ? NO_RANK : this.#table.rankOf(bytes, start + from, start + to));
  }

  #note(at: number, rank: number): void {
    this.#ranks[at] = rank;
    if (rank !== NO_RANK) this.#push(rank * RANK_UNIT + at);
  }

  #push(key: number): void {
    const heap = this.#heap;
    let at = this.#heapSize;
    this.#heapSize += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] ?? 0;
      if (above <= key) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = key;
  }

  #pop(): number {
    const heap = this.#heap;
    const least = heap[0] ?? 0;
    this.#heapSize -= 1;
    const size = this.#heapSize;
    const key = heap[size] ?? 0;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child += 1;
      const below = heap[child] ?? 0;
      if (below >= key) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = key;
    return least;
  }
}
