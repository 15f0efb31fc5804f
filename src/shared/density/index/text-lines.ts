// What is compared of a text, line by line: a number for what each says, whatever number it carries. Keeps no text.

import { endOfNumber, paddingOf } from '../../shrink/line-numbers.js';
import { hashOf } from './hash.js';
import { STRETCH_LINES, stretchOf } from './shown-lines.js';

/** The lines of a text. Those that say different things share a number by chance only, of 1 in 2^32. */
export interface TextLines {
  /** By line, a number for what it says: without its own number where it is numbered, and without spaces before one. */
  readonly lines: Int32Array;
  /** By line, one for it and those behind it that are compared together; 0 where these say too little. */
  readonly stretches: Int32Array;
  /** In their order, and at most `MAX_NUMBERED` of them. */
  readonly numbered: readonly NumberedLines[];
}

/** Lines of a text that follow each other and carry numbers in steps of one. */
export interface NumberedLines {
  /** Index of the first of them, and of the one behind the last. */
  readonly first: number;
  readonly end: number;
  /** The number of the first of them. */
  readonly number: number;
}

/** Fewer numbers in a row may be data. */
const MIN_NUMBERED = 4;
/** Of so many runs of numbered lines the numbers are told apart from what the lines say. */
export const MAX_NUMBERED = 7;
/** Stretches of less text are found anywhere: braces, blank lines. In UTF-16 units. */
const MIN_STRETCH = 24;

/** Returns what is compared of a text. Linear in it. */
export function linesOf(text: string): TextLines {
  const starts = startsOf(text);
  const count = starts.length - 1;
  const numbered = numberedIn(text, starts);
  const lines = new Int32Array(count);
  const stretches = new Int32Array(Math.max(0, count - STRETCH_LINES + 1));
  /** Of the last lines, by their index modulo their number; and of them together. */
  const lengths = new Int32Array(STRETCH_LINES);
  let length = 0;
  let run = 0;
  for (let line = 0; line < count; line += 1) {
    const start = starts[line] ?? 0;
    const end = (starts[line + 1] ?? 0) - 1;
    while (line >= (numbered[run]?.end ?? Infinity)) run += 1;
    const isNumbered = line >= (numbered[run]?.first ?? Infinity);
    const from = isNumbered ? endOfNumber(text, start) : start + paddingOf(text, start);
    lines[line] = numberOf(text, from, end);
    length += end - from - (lengths[line % STRETCH_LINES] ?? 0);
    lengths[line % STRETCH_LINES] = end - from;
    const first = line - STRETCH_LINES + 1;
    if (first >= 0 && length >= MIN_STRETCH) stretches[first] = stretchOf(lines, first);
  }
  return { lines, stretches, numbered };
}

/** Where the lines of a text begin, and behind the last of them where another one would. */
function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  starts.push(text.length + 1);
  return starts;
}

function numberedIn(text: string, starts: readonly number[]): readonly NumberedLines[] {
  const runs: NumberedLines[] = [];
  let [first, next] = [0, NaN];
  for (let line = 0; line < starts.length && runs.length < MAX_NUMBERED; line += 1) {
    const start = starts[line] ?? 0;
    const end = endOfNumber(text, start);
    const number = end < 0 ? NaN : Number(text.slice(start, end - 1));
    // NaN is equal to nothing.
    if (number !== next) {
      const count = line - first;
      if (count >= MIN_NUMBERED && next > 0) runs.push({ first, end: line, number: next - count });
      first = line;
    }
    next = number + 1;
  }
  return runs;
}

/** The number of a line, `null` for one without. */
export function numberAt(numbered: readonly NumberedLines[], line: number): number | null {
  for (const { first, end, number } of numbered) {
    if (line >= first && line < end) return number + line - first;
  }
  return null;
}

const [FIRST_SEED, SECOND_SEED] = [hashOf('first'), hashOf('second')];

function numberOf(text: string, start: number, end: number): number {
  let [first, second] = [FIRST_SEED, SECOND_SEED];
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x5bd1e995) + code;
  }
  first = Math.imul(first ^ (first >>> 15), 0x2c1b3c6d);
  return first ^ (first >>> 12) ^ Math.imul(second ^ (second >>> 13), 0x297a2d39);
}
