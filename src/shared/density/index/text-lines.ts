// Hashes the lines of a text for comparison, ignoring line numbers in front of them. Keeps no text.

import { endOfNumber, lineNumberAt, MIN_NUMBERED_LINES } from '../../shrink/shown-before.js';
import { hashSeed } from './hash.js';

/**
 * Lines per shingle. A text is indexed by disjoint shingles and looked up by overlapping ones. A shorter text is padded with blank
 * lines, because much JSON is a single line.
 */
export const SHINGLE_LINES = 3;

/** The hashed lines of a text. Different lines collide with a chance of 1 in 2^32. */
export interface TextLines {
  /** How many lines it has. */
  readonly count: number;
  /** By line, its hash, without its line number, padding and carriage return; 0 if it is blank. At least `SHINGLE_LINES`. */
  readonly lines: Int32Array;
  /** By line, the hash of the shingle that starts there; 0 if that has too little text. */
  readonly shingles: Int32Array;
  /** In order; at most `MAX_NUMBERED`. */
  readonly numbered: readonly NumberedLines[];
}

/** Consecutive lines that carry ascending numbers. */
export interface NumberedLines {
  /** First line, and end (exclusive). */
  readonly first: number;
  readonly end: number;
  /** The number of the first line. */
  readonly number: number;
}

/** Only the first runs of numbered lines are recognized. */
const MAX_NUMBERED = 7;
/** Shingles with less text are too common: braces, blank lines. In UTF-16 units. */
const MIN_SHINGLE = 24;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Hashes a text. Linear. */
export function linesOf(text: string): TextLines {
  const starts = startsOf(text);
  const count = starts.length - 1;
  const numbered = numberedIn(text, starts);
  const lines = new Int32Array(Math.max(SHINGLE_LINES, count));
  const shingles = new Int32Array(lines.length - SHINGLE_LINES + 1);
  /** Text length of the current shingle, and a ring buffer of its lines' lengths. */
  let length = 0;
  const lengths = new Int32Array(SHINGLE_LINES);
  let [run, first, end, gap] = [-1, 0, 0, 0];
  for (let line = 0; line < count; line += 1) {
    if (line === end) {
      run += 1;
      [first, end] = rangeOf(numbered[run]);
      gap = gapIn(text, starts, numbered[run]);
    }
    const start = starts[line] ?? 0;
    const lineEnd = endOfLine(text, start, (starts[line + 1] ?? 0) - 1);
    const from = line >= first ? Math.min(endOfNumber(text, start) + gap, lineEnd) : start;
    lines[line] = from === lineEnd ? 0 : numberOf(text, from, lineEnd);
    const place = line % SHINGLE_LINES;
    length += lineEnd - from - (lengths[place] ?? 0);
    lengths[place] = lineEnd - from;
    if (length < MIN_SHINGLE || line + 1 < SHINGLE_LINES) continue;
    shingles[line + 1 - SHINGLE_LINES] = shingleOf(lines, line + 1 - SHINGLE_LINES);
  }
  if (count < SHINGLE_LINES && length >= MIN_SHINGLE) shingles[0] = shingleOf(lines, 0);
  return { count, lines, shingles, numbered };
}

/** The offsets of all lines, and one past the end. */
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

/** The end of a line without the carriage return, which calls do not repeat and models do not see. */
function endOfLine(text: string, start: number, end: number): number {
  return end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
}

function rangeOf(run: NumberedLines | undefined): readonly [first: number, end: number] {
  return run === undefined ? [Infinity, Infinity] : [run.first, run.end];
}

/**
 * How many spaces separate the lines of a run from their numbers, besides the separator: 1 if all lines have a space there, some
 * only that, as in `12: text`; else 0.
 */
function gapIn(text: string, starts: Int32Array, run: NumberedLines | undefined): 0 | 1 {
  let gap: 0 | 1 = 0;
  for (let line = run?.first ?? 0; line < (run?.end ?? 0); line += 1) {
    const start = starts[line] ?? 0;
    const from = endOfNumber(text, start);
    const end = endOfLine(text, start, (starts[line + 1] ?? 0) - 1);
    if (from === end) continue;
    if (text.charCodeAt(from) !== SPACE) return 0;
    if (from + 1 === end || text.charCodeAt(from + 1) !== SPACE) gap = 1;
  }
  return gap;
}

function numberedIn(text: string, starts: Int32Array): readonly NumberedLines[] {
  const runs: NumberedLines[] = [];
  let [first, next] = [0, NaN];
  for (let line = 0; line < starts.length && runs.length < MAX_NUMBERED; line += 1) {
    const number = lineNumberAt(text, starts[line] ?? 0);
    // NaN equals nothing.
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

/** The number of a line, or `null`. */
export function numberAt(numbered: readonly NumberedLines[], line: number): number | null {
  for (const { first, end, number } of numbered) {
    if (line >= first && line < end) return number + line - first;
  }
  return null;
}

function numberOf(text: string, start: number, end: number): number {
  let first = hashSeed();
  let second = ~first;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x5bd1e995) + code;
  }
  first = Math.imul(first ^ (first >>> 15), 0x2c1b3c6d);
  return first ^ (first >>> 12) ^ Math.imul(second ^ (second >>> 13), 0x297a2d39);
}

/** The hash of a shingle. Never 0. */
export function shingleOf(lines: Int32Array, at: number): number {
  let shingle = 0x1b873593;
  for (let line = at; line < at + SHINGLE_LINES; line += 1) {
    shingle = Math.imul(shingle ^ (lines[line] ?? 0), 0x85ebca6b);
    shingle ^= shingle >>> 13;
  }
  return shingle === 0 ? 1 : shingle;
}
