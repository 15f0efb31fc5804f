// The shrinker `lineNumbers`: the spaces that `cat -n`, `nl` and the tools of agents put before the number of a line, so that numbers
// end in one column. A model reads the numbers without; of every line they take a token. What stands behind a number stays.

import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** What stands between a number and its line. */
const TAB = 0x09;
const ARROW = 0x2192;

const SPACE = 0x20;
/** What other tools have there: `grep -n`, editors. */
const SEPARATORS: ReadonlySet<number> = new Set([TAB, ARROW, 0x3a, 0x7c]);
const [ZERO, NINE] = [0x30, 0x39];

const MAX_PADDING = 12;
const MAX_DIGITS = 9;
/** Fewer numbers in a row may be data. */
export const MIN_NUMBERED_LINES = 4;

/** Takes the spaces before line numbers. */
export const LINE_NUMBERS: Shrinker<'lineNumbers'> = {
  name: 'lineNumbers',
  says: 'spaces before line numbers',
  from: 'lossless',
  leavesText: true,
  shrink({ lines }) {
    let kept: string[] | undefined;
    for (let start = 0; start < lines.length;) {
      const end = endOfNumbers(lines, start);
      if (end - start >= MIN_NUMBERED_LINES) {
        kept ??= [...lines];
        for (let at = start; at < end; at += 1) {
          const line = lines[at] ?? '';
          kept[at] = line.slice(paddingOf(line, 0));
        }
      }
      start = Math.max(end, start + 1);
    }
    return kept && Draft.ofLines(kept);
  },
};

/**
 * How many spaces stand at a place before a number that a tab or an arrow follows; 0 where no such number is. What compares
 * lines skips them: those that were shrunk say the same.
 */
export function paddingOf(text: string, at: number): number {
  if (text.charCodeAt(at) !== SPACE) return 0;
  const digits = digitsAt(text, at);
  const end = endOfDigits(text, digits);
  const next = text.charCodeAt(end);
  return end > digits && (next === TAB || next === ARROW) ? digits - at : 0;
}

/**
 * Where a line goes on behind its number, with spaces before it and a tab, an arrow, a colon or a bar behind it; -1 where no such number
 * stands at a place.
 */
export function endOfNumber(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code !== SPACE && !(code >= ZERO && code <= NINE)) return -1;
  const digits = digitsAt(text, at);
  const end = endOfDigits(text, digits);
  return end > digits && SEPARATORS.has(text.charCodeAt(end)) ? end + 1 : -1;
}

/** That number, NaN where none stands. */
export function lineNumberAt(text: string, at: number): number {
  const end = endOfNumber(text, at) - 1;
  if (end < at) return NaN;
  let number = 0;
  for (let digit = digitsAt(text, at); digit < end; digit += 1) {
    number = number * 10 + text.charCodeAt(digit) - ZERO;
  }
  return number;
}

/** Where the spaces at a place end, as far as they may stand before a number. */
function digitsAt(text: string, at: number): number {
  let digits = at;
  while (digits - at < MAX_PADDING && text.charCodeAt(digits) === SPACE) digits += 1;
  return digits;
}

/** The end of the lines from one on that are numbered in steps of one, all in the same column; the start where it is none of them. */
function endOfNumbers(lines: readonly string[], start: number): number {
  let [column, number] = [0, 0];
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const padding = paddingOf(line, 0);
    if (padding === 0) return at;
    const end = endOfDigits(line, padding);
    const found = lineNumberAt(line, 0);
    if (at > start && (end !== column || found !== number + 1)) return at;
    [column, number] = [end, found];
  }
  return lines.length;
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  for (; end - start < MAX_DIGITS; end += 1) {
    const code = text.charCodeAt(end);
    // Behind the end of the text, NaN is in no range.
    if (!(code >= ZERO && code <= NINE)) break;
  }
  return end;
}
