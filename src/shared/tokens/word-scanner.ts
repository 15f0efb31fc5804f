// Splits UTF-8 into the words that o200k merges bytes in, as its pattern does, by hand: the engine's regular expressions are
// slower, go by other classes of characters, and cannot read bytes. It knows no tokens.

import { LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER } from './character-classes.js';
import type { CharacterClasses } from './character-classes.js';

const CASED: number = UPPER | LOWER;
const VISIBLE_MASK: number = LETTER | NUMBER | SPACE;

const BLANK = 0x20;
const SLASH = 0x2f;
const APOSTROPHE = 0x27;
/** Sets the bit in which small letters of ASCII differ from capitals. */
const TO_SMALL = 0x20;
/** The most bytes of a contraction, which is looked for behind a word. */
const CONTRACTION_BYTES = 3;

/**
 * Finds the ends of words. Source: tiktoken, `openai_public.py`, `o200k_base`, whose alternatives are tried in this order:
 *
 *     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *     \p{N}{1,3}
 *     ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
 *     \s*[\r\n]+
 *     \s+(?!\S)
 *     \s+
 *
 * Every text is a sequence of such words.
 */
export class WordScanner {
  readonly #pageOf: Uint8Array;
  readonly #flags: Uint8Array;
  /** The byte behind all that the last call of `endOf` looked at. Where that is behind the end, what follows may change the word. */
  reach = 0;

  constructor({ pageOf, flags }: CharacterClasses) {
    this.#pageOf = pageOf;
    this.#flags = flags;
  }

  /** Where the word ends that begins at `start`, in UTF-8 that is well-formed and ends at `end`. */
  endOf(bytes: Uint8Array, start: number, end: number): number {
    const byte = bytes[start] ?? 0;
    const first = byte < 0x80 ? (this.#flags[byte] ?? 0) : this.#flagsAt(bytes, start);
    if ((first & CASED) !== 0) return this.#lettersEnd(bytes, start, end);
    if ((first & NUMBER) !== 0) return this.#numberEnd(bytes, start, end);
    const next = start + lengthAt(byte);
    if (next < end && (first & NEWLINE) === 0) {
      const second = this.#flagsAt(bytes, next);
      if ((second & CASED) !== 0) return this.#lettersEnd(bytes, next, end);
      if (byte === BLANK && (second & VISIBLE_MASK) === 0)
        return this.#symbolsEnd(bytes, next, end);
    }
    return (first & SPACE) === 0
      ? this.#symbolsEnd(bytes, start, end)
      : this.#spaceEnd(bytes, start, end);
  }

  /**
   * The first two alternatives without what may stand before them: capitals, then small letters, of which there has to be one
   * in the first. Letters without case and marks are both. So a word goes on to the end of the small letters behind capitals;
   * where there are none, to the last character that is both; and where there is none of these either, it is all capitals.
   */
  #lettersEnd(bytes: Uint8Array, start: number, end: number): number {
    const flags = this.#flags;
    let at = start;
    let lastOfBoth = 0;
    for (; at < end;) {
      const byte = bytes[at] ?? 0;
      const kind = byte < 0x80 ? (flags[byte] ?? 0) : this.#flagsAt(bytes, at);
      if ((kind & UPPER) === 0) break;
      at += lengthAt(byte);
      if ((kind & LOWER) !== 0) lastOfBoth = at;
    }
    const capitalsEnd = at;
    for (; at < end;) {
      const byte = bytes[at] ?? 0;
      const kind = byte < 0x80 ? (flags[byte] ?? 0) : this.#flagsAt(bytes, at);
      if ((kind & LOWER) === 0) break;
      at += lengthAt(byte);
    }
    const wordEnd = at > capitalsEnd || lastOfBoth === 0 ? at : lastOfBoth;
    this.reach = at + 1;
    if (bytes[wordEnd] !== APOSTROPHE || wordEnd >= end) return wordEnd;
    this.reach = Math.max(this.reach, wordEnd + CONTRACTION_BYTES);
    return wordEnd + contractionLength(bytes, wordEnd, end);
  }

  #numberEnd(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    for (let digits = 0; digits < 3 && at < end; digits += 1) {
      if ((this.#flagsAt(bytes, at) & NUMBER) === 0) break;
      at += lengthAt(bytes[at] ?? 0);
    }
    this.reach = at + 1;
    return at;
  }

  /** What is no letter, number or white space, and the line ends and slashes behind it. */
  #symbolsEnd(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && (this.#flagsAt(bytes, at) & VISIBLE_MASK) === 0) {
      at += lengthAt(bytes[at] ?? 0);
    }
    while (at < end && isNewlineOrSlash(bytes[at] ?? 0)) at += 1;
    this.reach = at + 1;
    return at;
  }

  /** White space up to its last line end; without one, all of it but what may begin the next word, and at least one of it. */
  #spaceEnd(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    let last = start;
    let newlineEnd = 0;
    while (at < end) {
      const kind = this.#flagsAt(bytes, at);
      if ((kind & SPACE) === 0) break;
      last = at;
      at += lengthAt(bytes[at] ?? 0);
      if ((kind & NEWLINE) !== 0) newlineEnd = at;
    }
    this.reach = at + 1;
    if (newlineEnd > 0) return newlineEnd;
    return at === end || last === start ? at : last;
  }

  #flagsAt(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return this.#flags[byte] ?? 0;
    const point = pointAt(bytes, at, byte);
    return this.#flags[((this.#pageOf[point >> 8] ?? 0) << 8) | (point & 0xff)] ?? 0;
  }
}

/** Bytes of the character that begins with this one. */
function lengthAt(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

function pointAt(bytes: Uint8Array, at: number, byte: number): number {
  const second = (bytes[at + 1] ?? 0) & 0x3f;
  if (byte < 0xe0) return ((byte & 0x1f) << 6) | second;
  const third = (bytes[at + 2] ?? 0) & 0x3f;
  if (byte < 0xf0) return ((byte & 0x0f) << 12) | (second << 6) | third;
  return ((byte & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] ?? 0) & 0x3f);
}

function isNewlineOrSlash(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d || byte === SLASH;
}

/** Bytes of the contraction that begins with the apostrophe at `at`, or 0. */
function contractionLength(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end) return 0;
  const second = at + 2 < end ? (bytes[at + 2] ?? 0) : 0;
  switch ((bytes[at + 1] ?? 0) | TO_SMALL) {
    // d, m, s, t
    case 0x64:
    case 0x6d:
    case 0x73:
    case 0x74:
      return 2;
    // ll
    case 0x6c:
      return (second | TO_SMALL) === 0x6c ? 3 : 0;
    // re, ve
    case 0x72:
    case 0x76:
      return (second | TO_SMALL) === 0x65 ? 3 : 0;
    // The long s, which is another small letter of S.
    case 0xe5:
      return bytes[at + 1] === 0xc5 && second === 0xbf ? 3 : 0;
    default:
      return 0;
  }
}
