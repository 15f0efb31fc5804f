// The character classes of o200k: letter, mark, number, white space. They are those of Unicode 16, as in tiktoken, regardless
// of the engine's version; newer characters have no class.

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
