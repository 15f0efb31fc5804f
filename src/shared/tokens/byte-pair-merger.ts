// Byte pair merging of one word, in n log n steps and without garbage. It counts tokens and does not
// say which.

import { NO_RANK } from './token-table.js';
import type { TokenTable } from './token-table.js';

/** Bits of a heap key that hold a position; the rank stands above them. */
const POSITION_BITS = 12;

/** The most bytes of a word that can be merged: positions have to fit into their bits, and so has the end. */
export const MAX_WORD_BYTES: number = 2 ** POSITION_BITS - 1;

/**
 * Merges the adjacent parts of a word that make the token of the lowest rank, the leftmost first, until
 * no two make a token. Source: tiktoken, `_byte_pair_merge`; that scans all pairs for each merge, a
 * heap of them does not.
 */
export class BytePairMerger {
  readonly #table: TokenTable;
  /** For each part, by the position it starts at: where the next and the previous one start. */
  readonly #next: Int32Array = new Int32Array(MAX_WORD_BYTES + 1);
  readonly #previous: Int32Array = new Int32Array(MAX_WORD_BYTES + 1);
  /** For each part: the rank of what it and the next one make. */
  readonly #ranks: Int32Array = new Int32Array(MAX_WORD_BYTES + 1);
  /** A binary heap of rank and position. Keys whose rank is no longer that of the position are stale. */
  readonly #heap: Int32Array = new Int32Array(3 * (MAX_WORD_BYTES + 1));
  #heapSize = 0;

  constructor(table: TokenTable) {
    this.#table = table;
  }

  /** How many tokens the word in the first `length` bytes has; at most `MAX_WORD_BYTES` of them. */
  countTokens(bytes: Uint8Array, length: number): number {
    const next = this.#next;
    const previous = this.#previous;
    this.#heapSize = 0;
    for (let at = 0; at < length; at += 1) {
      next[at] = at + 1;
      previous[at] = at - 1;
      this.#rate(bytes, at, at + 2 <= length ? at + 2 : 0);
    }
    let count = length;
    while (this.#heapSize > 0) {
      const key = this.#pop();
      const at = key & MAX_WORD_BYTES;
      if (this.#ranks[at] !== key >> POSITION_BITS) continue;
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

  /** Notes the rank of what the part at `start` and the next one make; it ends at `end`, 0 if there is none. */
  #rate(bytes: Uint8Array, start: number, end: number): void {
    const rank = end === 0 ? NO_RANK : this.#table.rankOf(bytes, start, end);
    this.#ranks[start] = rank;
    if (rank !== NO_RANK) this.#push((rank << POSITION_BITS) | start);
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
