// Byte pair merging of some bytes, with a heap: in n log n steps and without garbage.

import { NO_RANK } from './token-table.js';
import type { TokenTable } from './token-table.js';

/** A key of the heap: above the position of a part, which takes 32 bits, its rank. */
const RANK_UNIT = 2 ** 32;

/**
 * Merges the adjacent parts that make the token of the lowest rank, the leftmost first, until
 * no two make a token. Source: tiktoken, `_byte_pair_merge`; that scans all pairs for each merge, a
 * heap of them does not.
 */
export class MergeWindow {
  /** The most bytes that can be merged. */
  readonly size: number;
  readonly #table: TokenTable;
  #start = 0;
  #end = 0;
  /** For each part, by the position it starts at: where the next and the previous one start. */
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  /** For each part: the rank of what it and the next one make. */
  readonly #ranks: Int32Array;
  /** A binary heap of rank and position. Keys whose rank is no longer that of the position are stale. */
  readonly #heap: Float64Array;
  #heapSize = 0;

  constructor(table: TokenTable, size: number) {
    this.size = size;
    this.#table = table;
    this.#next = new Int32Array(size + 1);
    this.#previous = new Int32Array(size + 1);
    this.#ranks = new Int32Array(size + 1);
    // A key for each pair at first, and at most two for each merge.
    this.#heap = new Float64Array(3 * (size + 1));
  }

  /** Where the bytes end that were merged last. */
  get end(): number {
    return this.#end;
  }

  /** Where the token ends that begins at `at`, among those that were merged last. */
  after(at: number): number {
    return this.#start + (this.#next[at - this.#start] ?? 0);
  }

  /** How many tokens the bytes from `start` to before `end` have; at most `size` of them. */
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

  /** Notes the rank of what the part at `from` and the next one make; it ends at `to`, 0 if there is none. */
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
