// Precomputes for each line of a text how a quote of its beginning can be found in that text: whether other lines begin the same, and
// which of them it is. Used where the text itself is no longer available; keeps no text.

import { QUOTE_PLACE, QUOTE_LENGTH } from '../../shrink/shown-before.js';
import { withoutCodes } from '../../shown-text.js';
import { hashSeed } from './hash.js';

/** Returns for each line of a text a value as described at `QUOTE_PLACE`. Takes linear time. */
export function quotePlaces(given: string): Uint8Array {
  const text = withoutCodes(given);
  const short: number[] = [];
  const starts: number[] = [];
  /** By hash of a beginning, the index of the first line that has it. */
  const firsts = new Map<number, number>();
  const alike = new Set<number>();
  for (let start = 0; start <= text.length; start = endOfLine(text, start) + 1) {
    const from = firstWordIn(text, start);
    const hash = beginningAt(text, from, QUOTE_LENGTH.short);
    starts.push(from);
    short.push(hash);
    if (hash === NO_WORD) continue;
    if (firsts.has(hash)) alike.add(hash);
    else firsts.set(hash, short.length - 1);
  }
  const places = new Uint8Array(short.length);
  const counts = new Map<number, number>();
  for (const [line, hash] of short.entries()) {
    if (!alike.has(hash)) continue;
    const long = beginningAt(text, starts[line] ?? 0, QUOTE_LENGTH.long);
    const count = (counts.get(long) ?? 0) + 1;
    counts.set(long, count);
    if (count === 1) firsts.set(long, line);
    const place = QUOTE_PLACE.longIsUnique + count;
    places[line] = count > 1 && place <= QUOTE_PLACE.max ? place : QUOTE_PLACE.longIsUnique;
    if (count === 2) places[firsts.get(long) ?? 0] = QUOTE_PLACE.longIsUnique + 1;
  }
  return places;
}

const NO_WORD = 0;
const SPACE = 0x20;
const WORD_OR_END = /[\p{L}\p{N}\n]/gu;

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** The start of the first word in a line; the line's end if it has no word. */
function firstWordIn(text: string, start: number): number {
  WORD_OR_END.lastIndex = start;
  return WORD_OR_END.exec(text)?.index ?? text.length;
}

/** Hashes what a quote shows of a line from its first word on, at most `most` UTF-16 units; `NO_WORD` if there is no word. */
function beginningAt(text: string, from: number, most: number): number {
  let end = endOfLine(text, from);
  if (from === end) return NO_WORD;
  while (text.charCodeAt(end - 1) <= SPACE) end -= 1;
  // A quote that is cut ends with an ellipsis in place of its last character.
  const isCut = end - from > most;
  const last = isCut ? from + most - 1 : end;
  let hash = isCut ? hashSeed() : ~hashSeed();
  for (let at = from; at < last; at += 1) {
    hash = Math.imul(hash ^ Math.max(SPACE, text.charCodeAt(at)), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash === NO_WORD ? 1 : hash;
}
