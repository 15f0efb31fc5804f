// Counts the tokens of text in the o200k encoding. Which tokens there are is handed in: who loads them
// decides on which thread they live.

import { TextEncoder } from 'node:util';
import { runSlices } from '../slices.js';
import { BytePairMerger } from './byte-pair-merger.js';
import { readCharacterClasses } from './character-classes.js';
import type { CountText } from './count-tokens.js';
import { NO_RANK, TokenTable, hashOf } from './token-table.js';
import type { TokenArrays } from './token-table.js';
import { WordScanner } from './word-scanner.js';

/** UTF-16 units that are written as UTF-8 at a time: what fits the caches of a processor. */
const CHUNK_UNITS = 4096;
/** The most bytes that UTF-8 takes for one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
/** Digits that a word has at most, and the first and the last of them. */
const MAX_NUMBER_BYTES = 3;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
/** Chunks that are counted before others get a turn: 64 Ki units, in 2 ms of ordinary text. */
const SLICE_CHUNKS = 16;

/**
 * Counts text in an encoding with the words of o200k and given tokens, as tiktoken does, to the token. Time is linear in
 * the length of any text, and none makes it throw: one that looks like a special token (`<|endoftext|>`) counts as
 * ordinary text, as it does for a provider, and lone surrogates count as U+FFFD. It takes 1 MB beside the tokens, and
 * keeps nothing of what it counted but the bytes of words in a memo of fixed size.
 */
export class BytePairCounter {
  readonly #table: TokenTable;
  readonly #merger: BytePairMerger;
  readonly #memo: WordMemo = new WordMemo();
  readonly #scanner: WordScanner = new WordScanner(readCharacterClasses());
  readonly #encoder: TextEncoder = new TextEncoder();
  readonly #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_UNITS * MAX_BYTES_PER_UNIT);
  /** Whether nobody has to look for one: where all of them stand, memory is that no cache has. */
  readonly #areNumbersTokens: boolean;
  /** Tokens of the chunk that was counted last. */
  #chunkTokens = 0;

  constructor(tokens: TokenArrays) {
    this.#table = new TokenTable(tokens);
    this.#merger = new BytePairMerger(this.#table);
    this.#areNumbersTokens = this.#hasAllNumbers();
  }

  /** Tokens of a text. */
  readonly count: CountText = (text) => runSlices(this.countInSlices(text));

  /** The same; yields where others may have a turn, and may count meanwhile. */
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

  /** Tokens of a text that is UTF-8 already: well-formed, from `start` to before `end`. */
  readonly countBytes = (bytes: Uint8Array, start: number, end: number): number => {
    let tokens = 0;
    for (let at = start; at < end;) {
      const wordEnd = this.#scanner.endOf(bytes, at, end);
      tokens += this.#countWord(bytes, at, wordEnd);
      at = wordEnd;
    }
    return tokens;
  };

  /** Counts the words from `at` on that are sure to end within a chunk. Returns where they do: at once, if the first does not. */
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

  /** Of what is too long for a token, the last bytes and the length are enough. */
  #hashOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    const { maxLength } = this.#table;
    if (length <= maxLength) return hashOf(bytes, start, end);
    return hashOf(bytes, end - maxLength, end) ^ Math.imul(length, 0x9e3779b1);
  }
}

/** Whether a word is up to three digits of ASCII. */
function isShortNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_NUMBER_BYTES) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return false;
  }
  return true;
}

/** Where a chunk ends that splits no surrogate pair. */
function chunkEnd(text: string, at: number, units: number): number {
  const end = at + units;
  if (end >= text.length) return text.length;
  const isInPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isInPair ? end - 1 : end;
}

/** UTF-16 units of some UTF-8. */
function unitsOf(bytes: Uint8Array, start: number, end: number): number {
  let units = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0xf0) units += 2;
    else if ((byte & 0xc0) !== 0x80) units += 1;
  }
  return units;
}

/** Words that are remembered at a time, a power of two. */
const WORDS = 8192;
/** Bytes of them all. */
const BYTES = 2 ** 19;
/** The longest word that is remembered, in bytes. */
const MAX_BYTES = BYTES / 8;

export class WordMemo {
  readonly #bytes: Uint8Array = new Uint8Array(BYTES);
  #used = 0;
  /** Of each word where its bytes start, how many they are, and how many tokens. */
  readonly #starts: Int32Array = new Int32Array(WORDS);
  readonly #lengths: Int32Array = new Int32Array(WORDS);
  readonly #counts: Int32Array = new Int32Array(WORDS);

  /** How many tokens these bytes have, or 0 when that is not remembered. */
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

/** From other bits of the hash than tokens are found by, for those of all words there are free in the table. */
function placeOf(hash: number): number {
  return (hash >>> 8) & (WORDS - 1);
}
