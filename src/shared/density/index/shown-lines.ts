// What the texts of results have in common: numbers for stretches of lines, and none of the lines. Says which lines of a text
// others show as well; which of those count, and which are to be kept, is for the caller to know.

import { paddingOf } from '../../shrink/line-numbers.js';
import { hashOf } from './hash.js';

/** Lines that are compared together. A text is noted by every so many of them, and looked up by all. */
export const STRETCH_LINES = 3;
/** Stretches of less text are found anywhere: braces, blank lines. In UTF-16 units. */
const MIN_STRETCH = 24;
/** What stands further down in a text is not noted. */
const MAX_NOTED_LINES = 4_096;
/** A text has fewer rows. */
const MAX_ROWS = 2_048;

/** Lines of a text that an earlier one shows, too. */
export interface ShownRun {
  /** Index of the first line, and of the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** The row of the result that shows them. */
  readonly row: number;
}

/** Numbers for each stretch of a text, by its first line; 0 for one that is not compared. */
export type StretchNumbers = Float64Array;

/** Nothing follows in a chain; rows are told by their index plus one. */
const END = 0;
const FIRST_ROWS = 64;

/**
 * The stretches of the results of one history: of texts, each known by a number, in the order of these. One row of 25 bytes or so for
 * each of them: those of a text stand side by side, and those of one bucket of numbers are chained, of the newest text first.
 */
export class KnownStretches {
  #numbers = new Float64Array(FIRST_ROWS);
  #texts = new Int32Array(FIRST_ROWS);
  #lines = new Uint16Array(FIRST_ROWS);
  #next = new Int32Array(FIRST_ROWS);
  /** By the low bits of a number, the first row of its chain. As many as there is room for rows. */
  #first = new Int32Array(FIRST_ROWS);
  /** Rows that were used, those of texts that are forgotten among them. */
  #used = 0;
  /** By text, its first row and how many it has, as one number: an object for each would take as much as some of its rows. */
  readonly #noted = new Map<number, number>();
  #size = 0;

  /** Texts that are noted, and their stretches. */
  get size(): number {
    return this.#size;
  }

  /** Texts that are noted. */
  get texts(): number {
    return this.#noted.size;
  }

  /** Notes a text that is not noted. */
  note(text: number, numbers: StretchNumbers): void {
    const end = Math.min(numbers.length, MAX_NOTED_LINES);
    this.#reserve(Math.ceil(end / STRETCH_LINES));
    const row = this.#used;
    for (let at = 0; at < end; at += STRETCH_LINES) {
      const number = numbers[at] ?? 0;
      if (number !== 0) this.#push(text, number, at);
    }
    this.#enter(text, row);
  }

  /** How many stretches of a text are noted; `undefined` when it is not known. */
  sizeOf(text: number): number | undefined {
    const noted = this.#noted.get(text);
    return noted === undefined ? undefined : sizeOf(noted);
  }

  /** Knows a text by another number from now on. */
  move(text: number, to: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined) return;
    const [first, end] = [rowOf(noted), rowOf(noted) + sizeOf(noted)];
    const numbers = this.#numbers.slice(first, end);
    const lines = this.#lines.slice(first, end);
    this.forget(text);
    this.#reserve(numbers.length);
    const row = this.#used;
    for (const [at, number] of numbers.entries()) this.#push(to, number, lines[at] ?? 0);
    this.#enter(to, row);
  }

  forget(text: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined) return;
    this.#noted.delete(text);
    this.#size -= sizeOf(noted) + 1;
    const end = rowOf(noted) + sizeOf(noted);
    for (let row = rowOf(noted); row < end; row += 1) this.#unchain(row);
  }

  /** Forgets all texts but these. */
  keep(texts: ReadonlySet<number>): void {
    for (const [text, noted] of this.#noted) {
      if (texts.has(text)) continue;
      this.#noted.delete(text);
      this.#size -= sizeOf(noted) + 1;
    }
    this.#rebuild(0);
  }

  /**
   * Returns which lines of a text others show: ascending, none of them twice, each by the first text that has it.
   *
   * @param rows of the texts that may be named, where they stand: at higher rows those of higher numbers
   */
  shownIn(numbers: StretchNumbers, rows: ReadonlyMap<number, number>): readonly ShownRun[] {
    let firstText = Infinity;
    for (const text of rows.keys()) firstText = Math.min(firstText, text);
    if (firstText === Infinity) return [];
    const runs: { start: number; end: number; text: number; line: number }[] = [];
    for (let at = 0; at < numbers.length; at += 1) {
      const row = this.#oldestRow(numbers[at] ?? 0, firstText, rows);
      if (row === undefined) continue;
      const [text, line] = [this.#texts[row] ?? 0, this.#lines[row] ?? 0];
      const last = runs.at(-1);
      const end = at + STRETCH_LINES;
      // Stretches that stand elsewhere in another order are no run of it.
      const goesOn = last?.text === text && line - last.line === at - last.start;
      if (last !== undefined && goesOn && at <= last.end) last.end = end;
      else if (last === undefined || at >= last.end) runs.push({ start: at, end, text, line });
    }
    return runs.map(({ start, end, text }) => ({ start, end, row: rows.get(text) ?? 0 }));
  }

  /** The row of the first of these texts that has a stretch. */
  #oldestRow(
    number: number,
    firstText: number,
    rows: ReadonlyMap<number, number>,
  ): number | undefined {
    let oldest: number | undefined;
    for (let row = this.#firstOf(number); row >= 0; row = (this.#next[row] ?? END) - 1) {
      const text = this.#texts[row] ?? 0;
      if (text < firstText) break;
      if (this.#numbers[row] === number && rows.has(text)) oldest = row;
    }
    return oldest;
  }

  /** Adds a row, unless the text has that stretch further up. There is room for it. */
  #push(text: number, number: number, line: number): void {
    let before = -1;
    let row = this.#firstOf(number);
    for (; row >= 0 && (this.#texts[row] ?? 0) >= text; row = (this.#next[row] ?? END) - 1) {
      if (this.#texts[row] === text && this.#numbers[row] === number) return;
      before = row;
    }
    const added = this.#used;
    this.#used += 1;
    this.#numbers[added] = number;
    this.#texts[added] = text;
    this.#lines[added] = line;
    this.#chain(number, before, added + 1);
    this.#next[added] = row + 1;
  }

  #enter(text: number, row: number): void {
    const size = this.#used - row;
    this.#noted.set(text, row * MAX_ROWS + size);
    this.#size += size + 1;
  }

  #unchain(gone: number): void {
    const number = this.#numbers[gone] ?? 0;
    let before = -1;
    for (let row = this.#firstOf(number); row >= 0; row = (this.#next[row] ?? END) - 1) {
      if (row === gone) {
        this.#chain(number, before, this.#next[gone] ?? END);
        return;
      }
      before = row;
    }
  }

  /** Has one follow a row, or begin the chain of a number. */
  #chain(number: number, before: number, following: number): void {
    if (before >= 0) this.#next[before] = following;
    else this.#first[(number >>> 0) & (this.#first.length - 1)] = following;
  }

  #firstOf(number: number): number {
    return (this.#first[(number >>> 0) & (this.#first.length - 1)] ?? END) - 1;
  }

  #reserve(rows: number): void {
    if (this.#used + rows > this.#numbers.length) this.#rebuild(rows);
  }

  /** Moves what is noted together, to where there is room for so many rows more. */
  #rebuild(rows: number): void {
    const [numbers, lines] = [this.#numbers, this.#lines];
    // In their order, for each to begin its chains.
    const noted = [...this.#noted].sort(([a], [b]) => a - b);
    const needed = this.#size + rows;
    const room = Math.max(FIRST_ROWS, needed + (needed >> 3));
    this.#numbers = new Float64Array(room);
    this.#texts = new Int32Array(room);
    this.#lines = new Uint16Array(room);
    this.#next = new Int32Array(room);
    this.#first = new Int32Array(2 ** Math.floor(Math.log2(room)));
    this.#used = 0;
    for (const [text, place] of noted) {
      const [start, end] = [this.#used, rowOf(place) + sizeOf(place)];
      for (let at = rowOf(place); at < end; at += 1)
        this.#push(text, numbers[at] ?? 0, lines[at] ?? 0);
      this.#noted.set(text, start * MAX_ROWS + sizeOf(place));
    }
  }
}

function rowOf(noted: number): number {
  return Math.floor(noted / MAX_ROWS);
}

function sizeOf(noted: number): number {
  return noted % MAX_ROWS;
}

/**
 * Returns a number for each stretch of lines of a text. Different stretches share one by chance only, of 1 in 2^53; lines that
 * differ in the spaces before their numbers alone are the same.
 */
export function stretchNumbers(text: string): StretchNumbers {
  const numbers: number[] = [];
  const [firstSeed, secondSeed] = [hashOf('first'), hashOf('second')];
  /** Of the last lines, by their index modulo their number. */
  const [firsts, seconds] = [new Int32Array(STRETCH_LINES), new Int32Array(STRETCH_LINES)];
  const lengths = new Int32Array(STRETCH_LINES);
  let start = paddingOf(text, 0);
  let [first, second, length, line] = [firstSeed, secondSeed, 0, 0];
  for (let at = start; at <= text.length; at += 1) {
    const code = at === text.length ? LINE_END : text.charCodeAt(at);
    if (code !== LINE_END) {
      first = Math.imul(first ^ code, 0x01000193);
      second = Math.imul(second ^ code, 0x5bd1e995) + code;
      continue;
    }
    const place = line % STRETCH_LINES;
    length += at - start - (lengths[place] ?? 0);
    lengths[place] = at - start;
    firsts[place] = first ^ (first >>> 15);
    seconds[place] = second ^ (second >>> 13);
    line += 1;
    if (line >= STRETCH_LINES) {
      numbers.push(length < MIN_STRETCH ? 0 : numberOf(firsts, seconds, line));
    }
    start = at + 1 + paddingOf(text, at + 1);
    at = start - 1;
    [first, second] = [firstSeed, secondSeed];
  }
  return Float64Array.from(numbers);
}

const LINE_END = 0x0a;

/** One number for the lines before an index, in their order. */
function numberOf(firsts: Int32Array, seconds: Int32Array, end: number): number {
  let [high, low] = [0x1b873593, 0x2545f491];
  for (let line = end - STRETCH_LINES; line < end; line += 1) {
    high = Math.imul(high ^ (firsts[line % STRETCH_LINES] ?? 0), 0x85ebca6b);
    high ^= high >>> 13;
    low = Math.imul(low ^ (seconds[line % STRETCH_LINES] ?? 0), 0xc2b2ae35);
    low ^= low >>> 16;
  }
  return (high >>> 0) * 0x200000 + (low >>> 11) + 1;
}
