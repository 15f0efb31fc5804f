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

/** Rows are told by so little where there are no more of them. */
const MAX_NARROW_ROWS = 2 ** 16;

/** What is told of each stretch: 12 bytes, or 16 where there are very many. */
class StretchRows {
  readonly length: number;
  /** Of the number the upper 32 bits, and the next 16. */
  readonly #high: Uint32Array;
  readonly #middle: Uint16Array;
  /** Its last five, beside the line in stretches. */
  readonly #rest: Uint16Array;
  /** The place of its text in a list of them. */
  readonly texts: Uint16Array | Uint32Array;
  /** The row that follows in its chain. */
  readonly next: Uint16Array | Uint32Array;
  /** By the low bits of a number, the first row of its chain. As many as there is room for rows. */
  readonly first: Uint16Array | Uint32Array;

  constructor(length: number) {
    const Rows = length < MAX_NARROW_ROWS ? Uint16Array : Uint32Array;
    this.length = length;
    this.#high = new Uint32Array(length);
    this.#middle = new Uint16Array(length);
    this.#rest = new Uint16Array(length);
    this.texts = new Rows(length);
    this.next = new Rows(length);
    this.first = new Rows(2 ** Math.floor(Math.log2(length)));
  }

  numberAt(row: number): number {
    const upper = (this.#high[row] ?? 0) * 0x200000;
    return upper + ((this.#middle[row] ?? 0) << 5) + ((this.#rest[row] ?? 0) & 31) + 1;
  }

  lineAt(row: number): number {
    return ((this.#rest[row] ?? 0) >>> 5) * STRETCH_LINES;
  }

  set(row: number, number: number, line: number): void {
    const lower = (number - 1) % 0x200000;
    this.#high[row] = (number - 1 - lower) / 0x200000;
    this.#middle[row] = lower >>> 5;
    this.#rest[row] = ((line / STRETCH_LINES) << 5) | (lower & 31);
  }
}

/**
 * The stretches of the results of one history: of texts, each known by a number, in the order of these. A row for each of them:
 * those of a text stand side by side, and those of one bucket of numbers are chained, of the newest text first.
 */
export class KnownStretches {
  #rows = new StretchRows(FIRST_ROWS);
  /** The texts that rows are of, some of which are forgotten. */
  #texts: number[] = [];
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
    const row = this.#begin(text);
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
    const rows = this.#rows;
    const told = Array.from({ length: sizeOf(noted) }, (_, at) => {
      const row = rowOf(noted) + at;
      return [rows.numberAt(row), rows.lineAt(row)] as const;
    });
    this.forget(text);
    this.#reserve(told.length);
    const row = this.#begin(to);
    for (const [number, line] of told) this.#push(to, number, line);
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
      const [text, line] = [this.#textAt(row), this.#rows.lineAt(row)];
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
    for (let row = this.#firstOf(number); row >= 0; row = this.#nextOf(row)) {
      const text = this.#textAt(row);
      if (text < firstText) break;
      if (this.#rows.numberAt(row) === number && rows.has(text)) oldest = row;
    }
    return oldest;
  }

  /** Adds a row, unless the text has that stretch further up. There is room for it. */
  #push(text: number, number: number, line: number): void {
    let before = -1;
    let row = this.#firstOf(number);
    for (; row >= 0 && this.#textAt(row) >= text; row = this.#nextOf(row)) {
      if (this.#textAt(row) === text && this.#rows.numberAt(row) === number) return;
      before = row;
    }
    const added = this.#used;
    this.#used += 1;
    this.#rows.set(added, number, line);
    this.#rows.texts[added] = this.#texts.length - 1;
    this.#chain(number, before, added + 1);
    this.#rows.next[added] = row + 1;
  }

  /** Has the rows that follow be those of a text. Returns the first of them. */
  #begin(text: number): number {
    this.#texts.push(text);
    return this.#used;
  }

  #enter(text: number, row: number): void {
    const size = this.#used - row;
    this.#noted.set(text, row * MAX_ROWS + size);
    this.#size += size + 1;
  }

  #unchain(gone: number): void {
    const number = this.#rows.numberAt(gone);
    let before = -1;
    for (let row = this.#firstOf(number); row >= 0; row = this.#nextOf(row)) {
      if (row === gone) {
        this.#chain(number, before, this.#rows.next[gone] ?? END);
        return;
      }
      before = row;
    }
  }

  /** Has one follow a row, or begin the chain of a number. */
  #chain(number: number, before: number, following: number): void {
    const { first, next } = this.#rows;
    if (before >= 0) next[before] = following;
    else first[(number >>> 0) & (first.length - 1)] = following;
  }

  #firstOf(number: number): number {
    const { first } = this.#rows;
    return (first[(number >>> 0) & (first.length - 1)] ?? END) - 1;
  }

  #nextOf(row: number): number {
    return (this.#rows.next[row] ?? END) - 1;
  }

  #textAt(row: number): number {
    return this.#texts[this.#rows.texts[row] ?? 0] ?? 0;
  }

  #reserve(rows: number): void {
    // A text without any takes a place in the list as well.
    const { length } = this.#rows;
    if (this.#used + rows > length || this.#texts.length >= length) this.#rebuild(rows);
  }

  /** Moves what is noted together, to where there is room for so many rows more. */
  #rebuild(rows: number): void {
    const former = this.#rows;
    // In their order, for each to begin its chains.
    const noted = [...this.#noted].sort(([a], [b]) => a - b);
    const needed = this.#size + rows;
    this.#rows = new StretchRows(Math.max(FIRST_ROWS, needed + (needed >> 3)));
    this.#texts = [];
    this.#used = 0;
    for (const [text, place] of noted) {
      const [start, end] = [this.#begin(text), rowOf(place) + sizeOf(place)];
      for (let at = rowOf(place); at < end; at += 1)
        this.#push(text, former.numberAt(at), former.lineAt(at));
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
