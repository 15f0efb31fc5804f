// Splits UTF-8 into words as the pattern of o200k does. Hand-written, because the engine's regular expressions are slower, use
// other character classes, and cannot read bytes. The classes are those of Unicode 16, as in tiktoken, whatever the engine has;
// newer characters have none.

import { O200K_CLASSES } from './o200k-classes.js';

/** Letters and marks that o200k accepts as capitals. */
export const UPPER = 1;
/** Letters and marks that o200k accepts as small letters. */
export const LOWER = 2;
/** \p{L}. */
export const LETTER = 4;
/** \p{N}. */
export const NUMBER = 8;
/** \s. */
export const SPACE = 16;
/** Carriage return and line feed, which are also white space. */
export const NEWLINE = 32;

const CASED: number = UPPER | LOWER;
const VISIBLE_MASK: number = LETTER | NUMBER | SPACE;

const BLANK = 0x20;
const SLASH = 0x2f;
const APOSTROPHE = 0x27;
/** The bit that distinguishes small ASCII letters from capitals. */
const TO_SMALL = 0x20;
/** Maximum bytes of a contraction, which may follow a word. */
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
  /** The end of the bytes that the last `endOf` inspected. If it is beyond `end`, more text may change that word. */
  reach = 0;

  constructor() {
    const { pageOf, flags } = readCharacterClasses();
    this.#pageOf = pageOf;
    this.#flags = flags;
  }

  /** The end of the word that starts at `start`, in well-formed UTF-8 that ends at `end`. */
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
   * The first two alternatives without their optional first character: capitals, then small letters, at least one of them in
   * the first alternative. Caseless letters and marks are both. So a word ends after the small letters behind its capitals; if
   * there are none, after the last character that is both; if there is none of these, after the capitals.
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

  /** Characters other than letters, numbers and white space, then line breaks and slashes. */
  #symbolsEnd(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && (this.#flagsAt(bytes, at) & VISIBLE_MASK) === 0) {
      at += lengthAt(bytes[at] ?? 0);
    }
    while (at < end && isNewlineOrSlash(bytes[at] ?? 0)) at += 1;
    this.reach = at + 1;
    return at;
  }

  /** White space up to its last line break; without one, all but its last character, which may start the next word. */
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

/** Bytes of the character with this first byte. */
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

/** Bytes of the contraction that starts with the apostrophe at `at`, or 0. */
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
    // The long s (U+017F), which the case-insensitive pattern accepts as s.
    case 0xe5:
      return bytes[at + 1] === 0xc5 && second === 0xbf ? 3 : 0;
    default:
      return 0;
  }
}

/** The meaning of the letters in `O200K_CLASSES`. */
const FLAGS: Readonly<Record<string, number>> = {
  u: LETTER | UPPER,
  l: LETTER | LOWER,
  b: LETTER | UPPER | LOWER,
  m: UPPER | LOWER,
  n: NUMBER,
  s: SPACE,
  r: SPACE | NEWLINE,
  o: 0,
};

const POINTS = 0x110000;
/** Code points per page. */
const PAGE = 256;

/** Flags of all code points, in deduplicated pages. */
export interface CharacterClasses {
  /** By code point >> 8, the number of its page. */
  readonly pageOf: Uint8Array;
  /** All pages, concatenated; that of ASCII is the first. */
  readonly flags: Uint8Array;
}

/** Reads the generated classes, in about 5 ms. */
export function readCharacterClasses(): CharacterClasses {
  const all = new Uint8Array(POINTS);
  let point = 0;
  for (const [, name = '', length] of O200K_CLASSES.matchAll(/([a-z])(\d*)/g)) {
    const end = point + Number(length || 1);
    all.fill(FLAGS[name] ?? 0, point, end);
    point = end;
  }
  const pageOf = new Uint8Array(POINTS / PAGE);
  const pages = new Map<string, number>();
  const decoder = new TextDecoder();
  for (const at of pageOf.keys()) {
    const text = decoder.decode(all.subarray(at * PAGE, (at + 1) * PAGE));
    const page = pages.get(text) ?? pages.size;
    pages.set(text, page);
    pageOf[at] = page;
  }
  return { pageOf, flags: new TextEncoder().encode([...pages.keys()].join('')) };
}
