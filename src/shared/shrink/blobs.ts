// The shrinker `blobs`: shortens base64 and other long runs without a break, and lines of minified code. They are unreadable,
// and not needed for edits.

import { surrogateSafe } from '../shown-text.js';
import { Draft, leftOut } from './shrinker.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';

/** Shorter runs may be names, hashes or tokens that a later call has to pass on, such as that of the next page. */
const MIN_RUN: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 2_048,
  strong: 512,
};
const RUN_HEAD = 48;
const RUN_TAIL = 16;
/** Longer lines were not written by hand. */
const MAX_LINE: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 4_000,
  strong: 1_500,
};
const LINE_HEAD = 600;
const LINE_TAIL = 200;
/** Maximum share of spaces in minified code, and minimum share of keys in JSON. */
const MAX_SPACES = 0.1;
const MIN_KEYS = 0.004;

/** Removes content that is not text. */
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

/** By character code: 1 for characters of base64. */
const IS_OF_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** A run of at least `minRun` covers a multiple of `minRun`, so only every `minRun`th character is probed. */
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

function isOfRun(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && IS_OF_RUN[code] === 1;
}

/** Whether a run has many different characters. A ruler has one; it is left to `likeLines`. */
function hasManyCharacters(text: string, start: number): boolean {
  return new Set(text.slice(start, start + MIN_RUN.strong)).size > 8;
}

function withoutMinified(text: string, maxLine: number): string {
  let kept = '';
  let from = 0;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    if (end - start > maxLine && isMinified(text.slice(start, end))) {
      const left = end - start - LINE_HEAD - LINE_TAIL;
      const headEnd = surrogateSafe(text, start + LINE_HEAD);
      kept += text.slice(from, headEnd) + leftOut(`${left} characters`);
      from = surrogateSafe(text, end - LINE_TAIL);
    }
    start = end + 1;
  }
  return kept + text.slice(from);
}

function isMinified(line: string): boolean {
  let spaces = 0;
  let keys = 0;
  let marks = 0;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === 0x20) spaces += 1;
    else if (code === 0x3a && line.charCodeAt(at - 1) === 0x22) keys += 1;
    else if (code === 0x3b || code === 0x7b || code === 0x28) marks += 1;
  }
  const isCode = marks > line.length / 100;
  return isCode && spaces < MAX_SPACES * line.length && keys < MIN_KEYS * line.length;
}
