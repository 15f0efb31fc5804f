// Counts the tokens of text in the o200k encoding. The caller loads the tokens (`o200k.ts`), once per thread.

import { TextEncoder } from 'node:util';
import { surrogateSafe } from '../shown-text.js';
import { runSlices } from '../slices.js';
import { BytePairMerger } from './byte-pair-merger.js';
import type { CountText } from './count-tokens.js';
import { NO_RANK, TokenTable, hashOf } from './token-table.js';
import type { TokenArrays } from './token-table.js';
import { WordScanner } from './word-scanner.js';

/** UTF-16 units encoded as UTF-8 at a time; fits processor caches. */
const CHUNK_UNITS = 4096;
/** Maximum bytes of one UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Maximum digits of a word. */
const MAX_NUMBER_BYTES = 3;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
/** Chunks counted between two yields: 64 Ki units, 2 ms for ordinary text. */
const SLICE_CHUNKS = 16;

/**
 * Counts exactly as tiktoken does, splitting text into words as o200k and using the given tokens. Linear in the length of
 * any text, and never throws: text that looks like a special token (`<|endoftext|>`) counts as ordinary text, as it does for
 * a provider, and lone surrogates count as U+FFFD. Takes 1 MB besides the tokens, including a fixed-size cache of words.
 */
export class BytePairCounter {
  readonly #table: TokenTable;
  readonly #merger: BytePairMerger;
  readonly #memo: WordMemo = new WordMemo();
  readonly #scanner: WordScanner = new WordScanner();
  readonly #encoder: TextEncoder = new TextEncoder();
  readonly #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_UNITS * MAX_BYTES_PER_UNIT);
  /** Whether all short numbers are tokens. If so, they are not looked up, which would miss the processor's caches. */
  readonly #areNumbersTokens: boolean;
  /** Tokens of the last chunk. */
  #chunkTokens = 0;

  constructor(tokens: TokenArrays) {
    this.#table = new TokenTable(tokens);
    this.#merger = new BytePairMerger(this.#table);
    this.#areNumbersTokens = this.#hasAllNumbers();
  }

  /** Tokens of a text. */
  readonly count: CountText = (text) => runSlices(this.countInSlices(text));

  /** `count` in slices; other texts may be counted between them. */
  *countInSlices(text: string): Generator<void, number, undefined> {
    let tokens = 0;
    let chunks = 0;
    for (let at = 0; at < text.length;) {
      const end = this.#countChunk(text, at);
      if (end > at) {
        tokens += this.#chunkTokens;
        at = end;
      } else {
        const word = this.#longWord(text, at);
        tokens += yield* this.#countLongWord(word);
        at += unitsOf(word, 0, word.length);
      }
      chunks += 1;
      if (chunks % SLICE_CHUNKS === 0) yield;
    }
    return tokens;
  }

  /** Counts the words from `at` on that end within a chunk. Returns their end, which is `at` if the first word is longer. */
  #countChunk(text: string, at: number): number {
    const bytes = this.#buffer;
    const limit = chunkEnd(text, at, CHUNK_UNITS);
    const isLast = limit === text.length;
    const chunk = at === 0 && isLast ? text : text.slice(at, limit);
    const { written } = this.#encoder.encodeInto(chunk, bytes);
    const scanner = this.#scanner;
    let tokens = 0;
    let start = 0;
    while (start < written) {
      const end = scanner.endOf(bytes, start, written);
      if (!isLast && scanner.reach > written) break;
      tokens += this.#countWord(bytes, start, end);
      start = end;
    }
    this.#chunkTokens = tokens;
    return limit - unitsOf(bytes, start, written);
  }

  #countWord(bytes: Uint8Array, start: number, end: number): number {
    if (this.#areNumbersTokens && isShortNumber(bytes, start, end)) return 1;
    const hash = this.#hashOf(bytes, start, end);
    const isShort = end - start <= this.#table.maxLength;
    if (isShort && this.#table.rankOfHashed(hash, bytes, start, end) !== NO_RANK) return 1;
    const known = this.#memo.countOf(hash, bytes, start, end);
    if (known > 0) return known;
    const count = this.#merger.countTokens(bytes, start, end);
    this.#memo.remember(hash, bytes, start, end, count);
    return count;
  }

  #hasAllNumbers(): boolean {
    for (let length = 1; length <= MAX_NUMBER_BYTES; length += 1) {
      for (let number = 0; number < 10 ** length; number += 1) {
        const bytes = this.#encoder.encode(String(number).padStart(length, '0'));
        if (this.#table.rankOf(bytes, 0, length) === NO_RANK) return false;
      }
    }
    return true;
  }

  /** The bytes of a word that is longer than a chunk. */
  #longWord(text: string, at: number): Uint8Array {
    for (let units = 2 * CHUNK_UNITS; ; units *= 2) {
      const limit = chunkEnd(text, at, units);
      const bytes = this.#encoder.encode(text.slice(at, limit));
      const end = this.#scanner.endOf(bytes, 0, bytes.length);
      if (limit === text.length || this.#scanner.reach <= bytes.length)
        return bytes.subarray(0, end);
    }
  }

  *#countLongWord(word: Uint8Array): Generator<void, number, undefined> {
    const hash = this.#hashOf(word, 0, word.length);
    const known = this.#memo.countOf(hash, word, 0, word.length);
    if (known > 0) return known;
    const count = yield* this.#merger.countInSlices(word, 0, word.length);
    this.#memo.remember(hash, word, 0, word.length, count);
    return count;
  }

  /** Hashes only the length and the last bytes of words that are too long for a token. */
  #hashOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    const { maxLength } = this.#table;
    if (length <= maxLength) return hashOf(bytes, start, end);
    return hashOf(bytes, end - maxLength, end) ^ Math.imul(length, 0x9e3779b1);
  }
}

/** Whether a word is up to three ASCII digits. */
function isShortNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_NUMBER_BYTES) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return false;
  }
  return true;
}

/** The end of a chunk, which does not split a surrogate pair. */
function chunkEnd(text: string, at: number, units: number): number {
  const end = at + units;
  return end >= text.length ? text.length : surrogateSafe(text, end);
}

/** Length of UTF-8 in UTF-16 units. */
function unitsOf(bytes: Uint8Array, start: number, end: number): number {
  let units = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0xf0) units += 2;
    else if ((byte & 0xc0) !== 0x80) units += 1;
  }
  return units;
}

/** Maximum number of cached words, a power of two. */
const WORDS = 8192;
/** Maximum bytes of all cached words. */
const BYTES = 2 ** 19;
/** Longer words are not cached. */
const MAX_BYTES = BYTES / 8;

/** A cache of word counts, direct-mapped by hash. It is cleared when its bytes are full. */
export class WordMemo {
  readonly #bytes: Uint8Array = new Uint8Array(BYTES);
  #used = 0;
  /** By slot: where the word's bytes start, their number, and its tokens. */
  readonly #starts: Int32Array = new Int32Array(WORDS);
  readonly #lengths: Int32Array = new Int32Array(WORDS);
  readonly #counts: Int32Array = new Int32Array(WORDS);

  /** The cached number of tokens of a word, or 0. */
  countOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const place = placeOf(hash);
    const length = end - start;
    if (this.#lengths[place] !== length) return 0;
    const own = this.#bytes;
    const from = this.#starts[place] ?? 0;
    for (let at = 0; at < length; at += 1) {
      if (own[from + at] !== bytes[start + at]) return 0;
    }
    return this.#counts[place] ?? 0;
  }

  remember(hash: number, bytes: Uint8Array, start: number, end: number, count: number): void {
    const length = end - start;
    if (length > MAX_BYTES) return;
    if (this.#used + length > BYTES) {
      this.#lengths.fill(0);
      this.#used = 0;
    }
    const place = placeOf(hash);
    this.#starts[place] = this.#used;
    this.#lengths[place] = length;
    this.#counts[place] = count;
    for (let at = start; at < end; at += 1) this.#bytes[this.#used++] = bytes[at] ?? 0;
  }
}

/** Uses other bits of the hash than the token table: words that get here hash to its free slots, so those bits vary less. */
function placeOf(hash: number): number {
  return (hash >>> 8) & (WORDS - 1);
}
