// The tokens of an encoding by their bytes, in flat arrays: a lookup makes no string and no object.
// It knows ranks and bytes, and nothing of words, merging or files.

import { MAX_BYTES_PER_UNIT, writeUtf8 } from './utf8.js';

/**
 * The tokens of a byte pair encoding, the one of rank r at index r: as text, or as bytes where these
 * are no valid UTF-8. gpt-tokenizer's `bpeRanks/*` modules export it. Unused ranks are holes.
 */
export type TokenList = readonly (string | readonly number[] | undefined)[];

/** Tokens, arranged to be found by their bytes. */
export interface TokenArrays {
  /** The bytes of all tokens, one after the other. */
  readonly bytes: Uint8Array;
  /** Where the bytes of each rank start; those of the next rank follow. */
  readonly starts: Int32Array;
  /**
   * Ranks plus one at the hash of their bytes, or at the next free slot after it; 0 is free. Above
   * them stand the high bits of the hash, which tell most other tokens without a look at their bytes.
   */
  readonly slots: Int32Array;
  /** The longest token's length in bytes. */
  readonly maxLength: number;
}

/** The rank of bytes that are no token. Larger than any rank. */
export const NO_RANK = 0x7fffffff;

/** Of a slot, the bits of a rank plus one, and those of a hash. o200k has 199,998 ranks. */
const RANK_BITS = 0x3ffff;
const HASH_BITS: number = ~RANK_BITS;

/** Finds the rank of a token. */
export class TokenTable {
  readonly #bytes: Uint8Array;
  readonly #starts: Int32Array;
  readonly #slots: Int32Array;
  readonly #maxLength: number;

  constructor({ bytes, starts, slots, maxLength }: TokenArrays) {
    this.#bytes = bytes;
    this.#starts = starts;
    this.#slots = slots;
    this.#maxLength = maxLength;
  }

  /** The rank of the token that consists of `bytes` from `start` to before `end`, or `NO_RANK`. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.#maxLength) return NO_RANK;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = hashOf(bytes, start, end);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] ?? 0;
      if (found === 0) return NO_RANK;
      if (((found ^ hash) & HASH_BITS) !== 0) continue;
      const rank = (found & RANK_BITS) - 1;
      if (this.#isToken(rank, bytes, start, length)) return rank;
    }
  }

  #isToken(rank: number, bytes: Uint8Array, start: number, length: number): boolean {
    const own = this.#bytes;
    const from = this.#starts[rank] ?? 0;
    if ((this.#starts[rank + 1] ?? 0) - from !== length) return false;
    for (let at = 0; at < length; at += 1) {
      if (own[from + at] !== bytes[start + at]) return false;
    }
    return true;
  }
}

/** Arranges tokens, in some 60 ms for those of o200k. */
export function arrangeTokens(tokens: TokenList): TokenArrays {
  let capacity = 0;
  for (const token of tokens) capacity += (token?.length ?? 0) * MAX_BYTES_PER_UNIT;
  const bytes = new Uint8Array(capacity);
  const starts = new Int32Array(tokens.length + 1);
  let end = 0;
  for (const [rank, token] of tokens.entries()) {
    if (typeof token === 'string') end = writeUtf8(token, 0, token.length, bytes, end);
    else if (token !== undefined) {
      bytes.set(token, end);
      end += token.length;
    }
    starts[rank + 1] = end;
  }
  const arranging = arrangeInSlices(bytes.slice(0, end), starts);
  for (let slice = arranging.next(); ; slice = arranging.next()) {
    if (slice.done === true) return slice.value;
  }
}

/** Tokens that are arranged before the event loop may have a turn, in less than 2 ms. */
const SLICE_TOKENS = 16_384;

/** Arranges tokens that stand one after the other; yields now and then, and returns them in the end. */
export function* arrangeInSlices(
  bytes: Uint8Array,
  starts: Int32Array,
): Generator<void, TokenArrays, undefined> {
  const ranks = starts.length - 1;
  const slots = new Int32Array(slotCount(ranks));
  let maxLength = 0;
  for (let rank = 0; rank < ranks; rank += 1) {
    if (rank > 0 && rank % SLICE_TOKENS === 0) yield;
    const start = starts[rank] ?? 0;
    const end = starts[rank + 1] ?? 0;
    if (end === start) continue;
    maxLength = Math.max(maxLength, end - start);
    insert(slots, rank, hashOf(bytes, start, end));
  }
  return { bytes, starts, slots, maxLength };
}

/** Slots for so many ranks: at most half of them are taken, so that few lookups meet a neighbour. */
function slotCount(ranks: number): number {
  return 2 ** Math.ceil(Math.log2(ranks * 2 + 2));
}

function insert(slots: Int32Array, rank: number, hash: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = (hash & HASH_BITS) | (rank + 1);
}

/** FNV-1a with its high bits folded in, for only the low ones choose a slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}
