// The shrinker `blobs`: shortens base64 and other long unbroken runs of characters, and lines of minified code. Neither is
// readable, or needed for edits.

import { surrogateSafe } from '../shown-text.js';
import { Draft, leftOut } from './shrinker.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';

/**
 * Minimum length of a run to shorten, in UTF-16 units. Shorter ones may be names, hashes, or tokens that a later call has to pass on,
 * such as the token of the next page.
 */
const MIN_RUN: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 2_048,
  strong: 512,
};
const RUN_HEAD = 48;
const RUN_TAIL = 16;
/** Longer lines, in UTF-16 units, are checked for minified code, because nobody wrote them by hand. */
const MAX_LINE: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 4_000,
  strong: 1_500,
};
const LINE_HEAD = 600;
const LINE_TAIL = 200;
/** A line is judged in parts of this many UTF-16 units. */
const PART = 1_000;
/** Adjacent parts are cut only if they have at least this length together. */
const MIN_PARTS = 2_000;
/** Minimum shares of minified code that are punctuation, and that are `;({`. The text of a page has less. */
const MIN_PUNCTUATION = 0.12;
const MIN_MARKS = 0.005;
/** Maximum keys (`":`) per UTF-16 unit of minified code, in a line and in a part of it. JSON has more. */
const MAX_KEYS = 0.004;
const MAX_KEYS_OF_PART = 0.02;
/** Maximum share of non-ASCII characters in minified code: scripts without spaces have long lines too, and maybe own punctuation. */
const MAX_FOREIGN = 0.1;

/** Shortens content that is not readable text. */
export const BLOBS: Shrinker = {
  name: 'blobs',
  label: 'long runs that are no text',
  from: 'default',
  shrink({ text }, { level }) {
    const readable = withoutBlobs(text, MIN_RUN[level]);
    const kept = withoutMinified(readable, MAX_LINE[level]);
    return kept.length < text.length ? Draft.ofText(kept) : undefined;
  },
};

/** By character code: 1 for characters of base64 and base64url. */
const IS_OF_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Shortens runs. A run of at least `minRun` characters contains a probe, so only every `minRun`th character is read. */
function withoutBlobs(text: string, minRun: number): string {
  let kept = '';
  let from = 0;
  let end = 0;
  for (let probe = minRun - 1; probe < text.length; probe = Math.max(probe, end) + minRun) {
    if (!isOfRun(text, probe)) continue;
    let start = probe;
    while (start > end && isOfRun(text, start - 1)) start -= 1;
    end = probe + 1;
    while (end < text.length && isOfRun(text, end)) end += 1;
    if (end - start < minRun || !hasManyCharacters(text, start)) continue;
    const left = end - start - RUN_HEAD - RUN_TAIL;
    kept += text.slice(from, start + RUN_HEAD) + leftOut(`${left} characters`);
    from = end - RUN_TAIL;
  }
  return kept + text.slice(from);
}

/** Callers stay within the text: reading beyond it once makes `charCodeAt` several times slower. */
function isOfRun(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && IS_OF_RUN[code] === 1;
}

/** Whether a run has many different characters. A ruler such as `-----` has one, and is left to `likeLines`. */
function hasManyCharacters(text: string, start: number): boolean {
  return new Set(text.slice(start, start + MIN_RUN.strong)).size > 8;
}

function withoutMinified(text: string, maxLine: number): string {
  let kept = '';
  let from = 0;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    if (end - start > maxLine) {
      for (const [first, last] of minifiedParts(text, start, end)) {
        const left = last - first - LINE_HEAD - LINE_TAIL;
        kept += text.slice(from, surrogateSafe(text, first + LINE_HEAD));
        kept += leftOut(`${left} characters`);
        from = surrogateSafe(text, last - LINE_TAIL);
      }
    }
    start = end + 1;
  }
  return kept + text.slice(from);
}

/** Returns the ranges of a long line that are minified code and worth a cut. The rest stays: a page has its text between scripts. */
function minifiedParts(
  text: string,
  start: number,
  end: number,
): readonly (readonly [first: number, last: number])[] {
  const parts: (readonly [number, number])[] = [];
  if (keysIn(text.slice(start, end)) >= MAX_KEYS * (end - start)) return parts;
  let first = start;
  for (let at = start; at < end; at += PART) {
    const next = Math.min(end, at + PART);
    const isCode = isMinified(text.slice(at, next));
    const last = isCode ? next : at;
    if ((!isCode || next === end) && last - first >= MIN_PARTS) parts.push([first, last]);
    if (!isCode) first = next;
  }
  return parts;
}

function keysIn(line: string): number {
  return line.split('":').length - 1;
}

function isMinified(part: string): boolean {
  let [punctuation, marks, foreign] = [0, 0, 0];
  for (let at = 0; at < part.length; at += 1) {
    const code = part.charCodeAt(at);
    if (code > 0x7f) foreign += 1;
    else if (PUNCTUATION[code] !== 0) {
      punctuation += 1;
      if (PUNCTUATION[code] === MARK) marks += 1;
    }
  }
  return (
    punctuation > MIN_PUNCTUATION * part.length &&
    marks > MIN_MARKS * part.length &&
    foreign < MAX_FOREIGN * part.length &&
    keysIn(part) < MAX_KEYS_OF_PART * part.length
  );
}

const MARK = 2;
/** By ASCII code: 1 for punctuation that is frequent in code, `MARK` for `;({`, else 0. */
const PUNCTUATION = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (';({'.includes(character)) return MARK;
  return ')}[]=,&|!?:+'.includes(character) ? 1 : 0;
});
