// What o200k calls each character: letter, mark, number, white space. Its classes are those of Unicode 16, as tiktoken has
// them, whatever version the engine here has; a character that is newer than that is none of them.

import { O200K_CLASSES } from './o200k-classes.js';

/** A letter or mark that may stand where capitals do. */
export const UPPER = 1;
/** A letter or mark that may stand where small letters do. */
export const LOWER = 2;
/** What begins a word, or the number it stands for: \p{L}. */
export const LETTER = 4;
/** \p{N}. */
export const NUMBER = 8;
/** \s. */
export const SPACE = 16;
/** A carriage return or a line feed, which are white space too. */
export const NEWLINE = 32;

/** What the letters of `O200K_CLASSES` say. */
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
/** Code points of a page. */
const PAGE = 256;

/** Flags of all code points, in pages of which equal ones stand once. */
export interface CharacterClasses {
  /** By code point over 256: which page has its flags. */
  readonly pageOf: Uint8Array;
  /** The pages, one after the other, that of ASCII first. */
  readonly flags: Uint8Array;
}

/** Reads them from the module of the build, in some 5 ms. */
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
