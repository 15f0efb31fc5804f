// The tokens of an encoding by their bytes, in flat arrays: a lookup makes no string and no object.
// It knows ranks and bytes, and nothing of words, merging or files.

import { runSlices } from '../slices.js';

/**
 * The tokens of a byte pair encoding, the one of rank r at index r: as text, or as bytes where these
 * are no valid UTF-8. gpt-tokenizer's `bpeRanks/*` modules export it. Unused ranks are holes.
 */
export type TokenList = readonly (string | readonly number[] | undefined)[];

/** Tokens, arranged to be found by their bytes. */
export interface TokenArrays {
  /** Of each rank, in their order, a byte that says how many bytes its token has, and these. An unused rank has none. */
  readonly bytes: Uint8Array;
  /**
   * Where a token starts in `bytes`, plus one, at the hash of its bytes, or at the next free slot after it; 0 is free. Above
   * it stand the high bits of the hash, which tell most other tokens without a look at their bytes.
   */
  readonly slots: Int32Array;
  /** The longest token's length in bytes. */
  readonly maxLength: number;
}

/** The rank of bytes that are no token. Larger than any rank. */
export const NO_RANK = 0x7fffffff;

/** The longest token that can be arranged: a byte says how long one is. */
export const MAX_TOKEN_BYTES = 255;

/** Of a slot, the bits of a start plus one, and those of a hash. The tokens of o200k take 1.55 million bytes. */
const START_BITS = 0x1fffff;
const HASH_BITS: number = ~START_BITS;

/** Finds tokens. Where one starts among all of them stands for its rank: the order is the same. */
export class TokenTable {
  readonly #bytes: Uint8Array;
  readonly #slots: Int32Array;
  /** The ranks of all that two bytes can be: most of what merging asks for. */
  readonly #pairs: Int32Array = new Int32Array(2 ** 16).fill(NO_RANK);
  /** The longest token's length in bytes. */
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

  /** The rank of the token that consists of `bytes` from `start` to before `end`, or `NO_RANK`. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    return end - start > this.maxLength
      ? NO_RANK
      : this.rankOfHashed(hashOf(bytes, start, end), bytes, start, end);
  }

  /** The same for at most `maxLength` bytes, whose `hashOf` is known. */
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

/** Arranges tokens, in some 60 ms for those of o200k. @throws RangeError for a token that is longer than `MAX_TOKEN_BYTES`. */
export function arrangeTokens(tokens: TokenList): TokenArrays {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  // By index: holes are ranks too.
  for (let rank = 0; rank < tokens.length; rank += 1) {
    const token = tokens[rank] ?? '';
    const bytes = typeof token === 'string' ? encoder.encode(token) : Uint8Array.from(token);
    if (bytes.length > MAX_TOKEN_BYTES) {
      throw new RangeError(
        `Expected tokens of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes.length}.`,
      );
    }
    parts.push(Uint8Array.of(bytes.length), bytes);
  }
  return runSlices(arrangeInSlices(concatenate(parts), tokens.length));
}

/** Tokens that are arranged before the event loop may have a turn, in less than 2 ms. */
const SLICE_TOKENS = 16_384;

/** Arranges so many tokens, given as `TokenArrays` has their bytes; yields now and then, and returns them in the end. */
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

/** Slots for so many ranks: at most half of them are taken, so that few lookups meet a neighbour. */
function slotCount(ranks: number): number {
  return 2 ** Math.ceil(Math.log2(ranks * 2 + 2));
}

function insert(slots: Int32Array, start: number, hash: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = (hash & HASH_BITS) | (start + 1);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A hash of some bytes: FNV-1a with its high bits folded in, for only the low ones choose a slot. */
export function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}
