// A hash table of the tokens of an encoding, keyed by their bytes, in flat arrays: lookups do not allocate.

/** Tokens as a hash table with open addressing. */
export interface TokenArrays {
  /** By rank: one byte for the length of its token, then the token. The length is 0 for an unused rank. */
  readonly bytes: Uint8Array;
  /**
   * A token's start in `bytes` plus one, at the slot of its hash or the next free one; 0 is a free slot. The upper bits
   * are those of the hash, which rule out most other tokens without comparing bytes.
   */
  readonly slots: Int32Array;
  /** Length of the longest token in bytes. */
  readonly maxLength: number;
}

/** The rank of bytes that are not a token. Larger than any rank. */
export const NO_RANK = 0x7fffffff;

/** Maximum length of a token, because the length is stored in a byte. */
export const MAX_TOKEN_BYTES = 255;

/** The bits of a slot for the start plus one, and for the hash. The tokens of o200k take 1.55 million bytes. */
const START_BITS = 0x1fffff;
const HASH_BITS: number = ~START_BITS;

/** Looks up tokens. Uses a token's offset in `bytes` as its rank: the order is the same. */
export class TokenTable {
  readonly #bytes: Uint8Array;
  readonly #slots: Int32Array;
  /** The ranks of all pairs of bytes, which are most of the lookups while merging. */
  readonly #pairs: Int32Array = new Int32Array(2 ** 16).fill(NO_RANK);
  /** Length of the longest token in bytes. */
  readonly maxLength: number;

  constructor({ bytes, slots, maxLength }: TokenArrays) {
    this.#bytes = bytes;
    this.#slots = slots;
    this.maxLength = maxLength;
    for (let rank = 0; rank < bytes.length; rank += 1 + (bytes[rank] ?? 0)) {
      if (bytes[rank] !== 2) continue;
      this.#pairs[((bytes[rank + 1] ?? 0) << 8) | (bytes[rank + 2] ?? 0)] = rank;
    }
  }

  /** The rank of the two bytes at `at`, or `NO_RANK`. */
  rankOfPair(bytes: Uint8Array, at: number): number {
    return this.#pairs[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? NO_RANK;
  }

  /** The rank of the token with the bytes from `start` to before `end`, or `NO_RANK`. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    return end - start > this.maxLength
      ? NO_RANK
      : this.rankOfHashed(hashOf(bytes, start, end), bytes, start, end);
  }

  /** `rankOf` for at most `maxLength` bytes with a known `hashOf`. */
  rankOfHashed(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] ?? 0;
      if (found === 0) return NO_RANK;
      if (((found ^ hash) & HASH_BITS) !== 0) continue;
      const rank = (found & START_BITS) - 1;
      if (this.#isToken(rank, bytes, start, end)) return rank;
    }
  }

  #isToken(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes;
    if (own[rank] !== end - start) return false;
    const ahead = rank + 1 - start;
    for (let at = start; at < end; at += 1) {
      if (own[at + ahead] !== bytes[at]) return false;
    }
    return true;
  }
}

/** Tokens arranged between two yields: less than 2 ms. */
const SLICE_TOKENS = 16_384;

/** Arranges tokens in slices. `bytes` is as in `TokenArrays`. */
export function* arrangeInSlices(
  bytes: Uint8Array,
  ranks: number,
): Generator<void, TokenArrays, undefined> {
  const slots = new Int32Array(slotCount(ranks));
  let maxLength = 0;
  let start = 0;
  for (let rank = 0; rank < ranks; rank += 1) {
    if (rank > 0 && rank % SLICE_TOKENS === 0) yield;
    const length = bytes[start] ?? 0;
    const end = start + 1 + length;
    maxLength = Math.max(maxLength, length);
    if (length > 0) insert(slots, start, hashOf(bytes, start + 1, end));
    start = end;
  }
  return { bytes, slots, maxLength };
}

/** Number of slots: at most half of them are used, so that few lookups collide. */
function slotCount(ranks: number): number {
  return 2 ** Math.ceil(Math.log2(ranks * 2 + 2));
}

function insert(slots: Int32Array, start: number, hash: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = (hash & HASH_BITS) | (start + 1);
}

/** FNV-1a with the high bits folded in, because only the low bits select a slot. */
export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}
