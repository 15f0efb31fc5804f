// What the texts of results have in common: numbers for stretches of lines, and none of the lines. Says which lines of a text
// others show as well; which of those count, and which are to be kept, is for the caller to know.

import { hashOf } from './hash.js';

/** Lines that are compared together. A text is noted by every so many of them, and looked up by all. */
export const STRETCH_LINES = 3;
/** Stretches of less text are found anywhere: braces, blank lines. In UTF-16 units. */
const MIN_STRETCH = 24;
/** What stands further down in a text is not noted. */
const MAX_NOTED_LINES = 4_096;
/** More than the lines that are noted. */
const PLACES = 65_536;

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

/** The stretches of the results of one history: of texts, each known by a number, in the order of these. */
export class KnownStretches {
  /** By number of a stretch, the texts that have it, ascending: each times `PLACES`, and the line that it first begins with. */
  readonly #places = new Map<number, number[]>();
  /** By text, its stretches and the first lines of those. */
  readonly #noted = new Map<number, ReadonlyMap<number, number>>();
  #size = 0;

  /** Texts that are noted, and their stretches. */
  get size(): number {
    return this.#size;
  }

  /** Notes a text. */
  note(text: number, numbers: StretchNumbers): void {
    const lines = new Map<number, number>();
    const end = Math.min(numbers.length, MAX_NOTED_LINES);
    for (let at = 0; at < end; at += STRETCH_LINES) {
      const number = numbers[at] ?? 0;
      if (number !== 0 && !lines.has(number)) lines.set(number, at);
    }
    this.#add(text, lines);
  }

  /** How many stretches of a text are noted; `undefined` when it is not known. */
  sizeOf(text: number): number | undefined {
    return this.#noted.get(text)?.size;
  }

  /** Knows a text by another number from now on. */
  move(text: number, to: number): void {
    const lines = this.#noted.get(text);
    this.forget(text);
    if (lines !== undefined) this.#add(to, lines);
  }

  forget(text: number): void {
    const lines = this.#noted.get(text);
    if (lines === undefined) return;
    this.#noted.delete(text);
    this.#size -= lines.size + 1;
    for (const [number, line] of lines) {
      const places = this.#places.get(number) ?? [];
      places.splice(lowerBound(places, text * PLACES + line), 1);
      if (places.length === 0) this.#places.delete(number);
    }
  }

  /** Forgets all texts but these. */
  keep(texts: ReadonlySet<number>): void {
    for (const [number, places] of this.#places) {
      const kept = places.filter((place) => texts.has(textAt(place)));
      if (kept.length === 0) this.#places.delete(number);
      else this.#places.set(number, kept);
    }
    for (const [text, lines] of this.#noted) {
      if (texts.has(text)) continue;
      this.#noted.delete(text);
      this.#size -= lines.size + 1;
    }
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
      const place = this.#firstPlace(numbers[at] ?? 0, firstText, rows);
      if (place === undefined) continue;
      const [text, line] = [textAt(place), place % PLACES];
      const last = runs.at(-1);
      const end = at + STRETCH_LINES;
      // Stretches that stand elsewhere in another order are no run of it.
      const goesOn = last?.text === text && line - last.line === at - last.start;
      if (last !== undefined && goesOn && at <= last.end) last.end = end;
      else if (last === undefined || at >= last.end) runs.push({ start: at, end, text, line });
    }
    return runs.map(({ start, end, text }) => ({ start, end, row: rows.get(text) ?? 0 }));
  }

  #firstPlace(
    number: number,
    firstText: number,
    rows: ReadonlyMap<number, number>,
  ): number | undefined {
    const places = this.#places.get(number);
    if (places === undefined) return undefined;
    // Most often it is the first that is looked at.
    for (let at = lowerBound(places, firstText * PLACES); at < places.length; at += 1) {
      const place = places[at] ?? 0;
      if (rows.has(textAt(place))) return place;
    }
    return undefined;
  }

  #add(text: number, lines: ReadonlyMap<number, number>): void {
    this.#noted.set(text, lines);
    this.#size += lines.size + 1;
    for (const [number, line] of lines) {
      const place = text * PLACES + line;
      const places = this.#places.get(number);
      if (places === undefined) this.#places.set(number, [place]);
      else if ((places.at(-1) ?? 0) < place) places.push(place);
      else places.splice(lowerBound(places, place), 0, place);
    }
  }
}

function textAt(place: number): number {
  return Math.floor(place / PLACES);
}

/** The index of the first of ascending places that is not below one. */
function lowerBound(places: readonly number[], place: number): number {
  let [start, end] = [0, places.length];
  while (start < end) {
    const middle = (start + end) >>> 1;
    if ((places[middle] ?? 0) < place) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** Returns a number for each stretch of lines of a text. Different stretches share one by chance only, of 1 in 2^53. */
export function stretchNumbers(text: string): StretchNumbers {
  const numbers: number[] = [];
  const [firstSeed, secondSeed] = [hashOf('first'), hashOf('second')];
  /** Of the last lines, by their index modulo their number. */
  const [firsts, seconds] = [new Int32Array(STRETCH_LINES), new Int32Array(STRETCH_LINES)];
  const lengths = new Int32Array(STRETCH_LINES);
  let [first, second, length, line, start] = [firstSeed, secondSeed, 0, 0, 0];
  for (let at = 0; at <= text.length; at += 1) {
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
    [first, second, start] = [firstSeed, secondSeed, at + 1];
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
