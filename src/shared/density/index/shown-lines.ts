// What the texts of results have in common with earlier ones: numbers for stretches of lines, and none of the lines. Says
// which lines of a text another one shows as well; whether that still stands is for the caller to know.

import { hashOf } from './hash.js';

/** Lines that are compared together. A text is noted by every so many of them, and looked up by all. */
export const STRETCH_LINES = 3;
/** Stretches of less text are found anywhere: braces, blank lines. In UTF-16 units. */
const MIN_STRETCH = 24;
/** So many stretches are known, the oldest of which make way: of some 40,000 lines. */
const MAX_STRETCHES = 10_000;
/** So many texts are known that have the same one. */
const MAX_PLACES = 16;
/** What stands further down in a text is not noted. */
const MAX_LINES = 65_536;

/** Lines of a text that an earlier one shows, too. */
export interface ShownRun {
  /** Index of the first line, and of the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** The number that the earlier text was noted by. */
  readonly text: number;
}

/** Numbers for each stretch of a text, by its first line; 0 for one that is not compared. */
export type StretchNumbers = Float64Array;

/** The stretches of the results of one history. */
export class KnownStretches {
  /**
   * By number of a stretch, the texts that have it, oldest first: each times `MAX_LINES`, and the line that it begins with. Later
   * ones count as soon as the first no longer stands, as they would have had it never been there.
   */
  readonly #places = new Map<number, readonly number[]>();

  /**
   * Notes a text by a number of its own, and tells which of its lines earlier texts show: ascending, none of them twice.
   *
   * @param isLive whether an earlier text still stands
   */
  note(
    text: number,
    numbers: StretchNumbers,
    isLive: (text: number) => boolean,
  ): readonly ShownRun[] {
    const runs: { start: number; end: number; text: number; line: number }[] = [];
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at] ?? 0;
      if (number === 0) continue;
      const places = this.#places.get(number)?.filter((place) => isLive(textAt(place))) ?? [];
      if (at % STRETCH_LINES === 0 && at < MAX_LINES && places.length < MAX_PLACES) {
        this.#set(number, [...places, text * MAX_LINES + at]);
      }
      const [known] = places;
      if (known === undefined) continue;
      const source = textAt(known);
      const last = runs.at(-1);
      const end = at + STRETCH_LINES;
      const line = known % MAX_LINES;
      // Stretches that stand elsewhere in another order are no run of it.
      const goesOn = last?.text === source && line - last.line === at - last.start;
      if (last !== undefined && goesOn && at <= last.end) last.end = end;
      else if (last === undefined || at >= last.end) {
        runs.push({ start: at, end, text: source, line });
      }
    }
    return runs;
  }

  #set(number: number, places: readonly number[]): void {
    if (places.length === 1) this.#places.delete(number);
    this.#places.set(number, places);
    if (this.#places.size <= MAX_STRETCHES) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }
}

function textAt(place: number): number {
  return Math.floor(place / MAX_LINES);
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
