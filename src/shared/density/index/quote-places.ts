// Says of each line of a text how much it takes to quote it, for where the text is not known: whether others begin alike, and
// which of those it is. Keeps no text.

import { FITS, QUOTED } from '../../shrink/shown-before.js';
import { withoutCodes } from '../../shown-text.js';
import { hashOf } from './hash.js';

/** By line of a text, see `FITS`. Linear. */
export function quotePlaces(given: string): Uint8Array {
  const text = withoutCodes(given);
  const short: number[] = [];
  const starts: number[] = [];
  /** By how lines begin, the first one. */
  const firsts = new Map<number, number>();
  const alike = new Set<number>();
  for (let start = 0; start <= text.length; start = endOfLine(text, start) + 1) {
    const from = firstWordIn(text, start);
    const hash = beginningAt(text, from, QUOTED.short);
    starts.push(from);
    short.push(hash);
    if (hash === NO_WORD) continue;
    if (firsts.has(hash)) alike.add(hash);
    else firsts.set(hash, short.length - 1);
  }
  const places = new Uint8Array(short.length);
  if (alike.size === 0) return places;
  const counts = new Map<number, number>();
  firsts.clear();
  for (const [line, hash] of short.entries()) {
    if (!alike.has(hash)) continue;
    const long = beginningAt(text, starts[line] ?? 0, QUOTED.long);
    const count = (counts.get(long) ?? 0) + 1;
    counts.set(long, count);
    if (count === 1) firsts.set(long, line);
    const place = FITS.onlyIfLong + count;
    places[line] = count > 1 && place <= FITS.most ? place : FITS.onlyIfLong;
    if (count === 2) places[firsts.get(long) ?? 0] = FITS.onlyIfLong + 1;
  }
  return places;
}

const NO_WORD = 0;
const SEED = hashOf('beginning');
const [SPACE, ASCII] = [0x20, 0x80];
const WORD = /[\p{L}\p{N}]/u;

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** Where the first word of a line is; its end if it has none. */
function firstWordIn(text: string, start: number): number {
  const end = endOfLine(text, start);
  let at = start;
  while (at < end && !isWordAt(text, at)) at += 1;
  return at;
}

function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= ASCII) return WORD.test(String.fromCodePoint(text.codePointAt(at) ?? code));
  // ASCII, where it is called for every character.
  return (code >= 0x30 && code <= 0x39) || ((code | SPACE) >= 0x61 && (code | SPACE) <= 0x7a);
}

/** The hash of what a quote shows of a line from its first word on; `NO_WORD` of none. */
function beginningAt(text: string, from: number, most: number): number {
  let end = endOfLine(text, from);
  if (from === end) return NO_WORD;
  while (text.charCodeAt(end - 1) <= SPACE) end -= 1;
  // One that is cut has an ellipsis instead of its last character.
  const isCut = end - from > most;
  const last = isCut ? from + most - 1 : end;
  let hash = isCut ? SEED : ~SEED;
  for (let at = from; at < last; at += 1) {
    hash = Math.imul(hash ^ Math.max(SPACE, text.charCodeAt(at)), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash === NO_WORD ? 1 : hash;
}
