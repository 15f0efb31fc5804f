// What is compared of a text, line by line: a number for what each says, whatever number it carries. Keeps no text.

import {
  endOfNumber,
  lineNumberAt,
  MIN_NUMBERED_LINES,
  paddingOf,
} from '../../shrink/line-numbers.js';
import { hashOf } from './hash.js';

/** Lines that are compared together. A text is found by every so many of them, and looked for by all. */
export const STRETCH_LINES = 3;

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
  /** How much the last lines say together, and by their index modulo their number. */
  let length = 0;
  const lengths = new Int32Array(STRETCH_LINES);
  let run = 0;
  let [first, end] = rangeOf(numbered[run]);
  for (let line = 0; line < count; line += 1) {
    if (line === end) {
      run += 1;
      [first, end] = rangeOf(numbered[run]);
    }
    const start = starts[line] ?? 0;
    const lineEnd = (starts[line + 1] ?? 0) - 1;
    const from = line >= first ? endOfNumber(text, start) : start + paddingOf(text, start);
    lines[line] = from === lineEnd ? 0 : numberOf(text, from, lineEnd);
    const place = line % STRETCH_LINES;
    length += lineEnd - from - (lengths[place] ?? 0);
    lengths[place] = lineEnd - from;
    if (length < MIN_STRETCH || line + 1 < STRETCH_LINES) continue;
    stretches[line + 1 - STRETCH_LINES] = stretchOf(lines, line + 1 - STRETCH_LINES);
  }
  return { lines, stretches, numbered };
}

/** Where the lines of a text begin, and behind the last of them where another one would. */
function startsOf(text: string): Int32Array {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  const starts = new Int32Array(count + 1);
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts[line] = at + 1;
    line += 1;
  }
  starts[line] = text.length + 1;
  return starts;
}

function rangeOf(run: NumberedLines | undefined): readonly [first: number, end: number] {
  return run === undefined ? [Infinity, Infinity] : [run.first, run.end];
}

function numberedIn(text: string, starts: Int32Array): readonly NumberedLines[] {
  const runs: NumberedLines[] = [];
  let [first, next] = [0, NaN];
  for (let line = 0; line < starts.length && runs.length < MAX_NUMBERED; line += 1) {
    const number = lineNumberAt(text, starts[line] ?? 0);
    // NaN is equal to nothing.
    if (number !== next) {
      const count = line - first;
      if (count >= MIN_NUMBERED_LINES && next > 0)
        runs.push({ first, end: line, number: next - count });
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

/** One number for so many lines as are compared together. Never 0. */
export function stretchOf(lines: Int32Array, at: number): number {
  let stretch = 0x1b873593;
  for (let line = at; line < at + STRETCH_LINES; line += 1) {
    stretch = Math.imul(stretch ^ (lines[line] ?? 0), 0x85ebca6b);
    stretch ^= stretch >>> 13;
  }
  return stretch === 0 ? 1 : stretch;
}
