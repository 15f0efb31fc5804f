// What the texts of results have in common: numbers for their lines, and none of the lines. Says which lines of a text
// others show as well; which of those count, and which are to be kept, is for the caller to know.

import { MAX_NUMBERED, numberAt, STRETCH_LINES, stretchOf } from './text-lines.js';
import type { NumberedLines, TextLines } from './text-lines.js';

/** What stands further down in a text is not noted. */
const MAX_NOTED_LINES = 4_096;
/** A text has fewer lines, and fewer runs of numbered ones. */
const MANY_LINES = 8_192;
const MANY_RUNS = MAX_NUMBERED + 1;

/** Lines of a text that an earlier one shows, too. */
export interface ShownRun {
  /** Index of the first line, and of the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** The row of the result that shows them. */
  readonly row: number;
  /** The number that the first one has there, `null` for none; absent where it has the same, or none, here too. */
  readonly there?: number | null;
}

/** So many texts with the same lines are compared. */
const MAX_COMPARED = 16;

/** Nothing follows in a chain; rows are told by their index plus one. */
const END = 0;
const FIRST_ROWS = 64;
/** Rows are told by so little where there are fewer of them: the last number is for one in no chain. */
const MAX_NARROW_ROWS = 2 ** 16 - 1;

/** What is told of each stretch: some 18 bytes, or 24 where there are very many. */
class StretchRows {
  readonly length: number;
  /** What the lines say, as many for each row as are compared together. */
  readonly lines: Int32Array;
  /** The place of its text in a list of them. */
  readonly texts: Uint16Array | Uint32Array;
  /** The row that follows in its chain. */
  readonly next: Uint16Array | Uint32Array;
  /** By the low bits of a stretch, the first row of its chain. As many as there is room for rows. */
  readonly first: Uint16Array | Uint32Array;
  /** What follows a row that is in no chain. */
  readonly unchained: number;

  constructor(length: number) {
    const Rows = length < MAX_NARROW_ROWS ? Uint16Array : Uint32Array;
    this.length = length;
    this.lines = new Int32Array(length * STRETCH_LINES);
    this.texts = new Rows(length);
    this.next = new Rows(length);
    this.first = new Rows(2 ** Math.floor(Math.log2(length)));
    this.unchained = 2 ** (8 * Rows.BYTES_PER_ELEMENT) - 1;
    this.next.fill(this.unchained);
  }
}

/**
 * The lines of the results of one history: of texts, each known by a number, in the order of these. A row for
 * each stretch of them: those of a text stand side by side, behind one for each run of numbered lines; and those of one bucket
 * of stretches are chained, of the newest text first.
 */
export class KnownStretches {
  #rows = new StretchRows(FIRST_ROWS);
  /** The texts that rows are of, some of which are forgotten. */
  #texts: number[] = [];
  /** Rows that were used, those of texts that are forgotten among them. */
  #used = 0;
  /** By text, what is noted of it, as one number: an object for each would take as much as some of its rows. */
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
  note(text: number, { lines, stretches, numbered }: TextLines): void {
    const count = Math.min(lines.length, MAX_NOTED_LINES);
    this.#reserve(numbered.length + rowsFor(count));
    const noted: Noted = { row: this.#used, runs: numbered.length, count };
    const [first, end] = [firstRowOf(noted), endRowOf(noted)];
    this.#used = end;
    this.#size += end - noted.row;
    this.#noted.set(text, packed(noted));
    const rows = this.#rows;
    rows.texts.fill(this.#texts.push(text) - 1, noted.row, end);
    numbered.forEach((run, at) => {
      rows.lines.set([run.first, run.end, run.number], (noted.row + at) * STRETCH_LINES);
    });
    rows.lines.set(lines.subarray(0, count), first * STRETCH_LINES);
    for (let at = 0; at + STRETCH_LINES <= count; at += STRETCH_LINES) {
      if (stretches[at] !== 0) this.#chain(first + at / STRETCH_LINES);
    }
  }

  /** How many stretches of a text are noted; `undefined` when it is not known. */
  sizeOf(text: number): number | undefined {
    const noted = this.#noted.get(text);
    return noted === undefined ? undefined : rowsFor(unpacked(noted).count);
  }

  /** Knows a text by another number from now on. */
  move(text: number, to: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined || text === to) return;
    this.#noted.delete(text);
    this.#noted.set(to, noted);
    const { row: start } = unpacked(noted);
    const end = endRowOf(unpacked(noted));
    const chained: number[] = [];
    for (let row = start; row < end; row += 1) if (this.#unchain(row)) chained.push(row);
    this.#texts[this.#rows.texts[start] ?? 0] = to;
    for (const row of chained) this.#chain(row);
  }

  forget(text: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined) return;
    this.#noted.delete(text);
    const { row: start } = unpacked(noted);
    const end = endRowOf(unpacked(noted));
    this.#size -= end - start;
    for (let row = start; row < end; row += 1) this.#unchain(row);
  }

  /** Forgets all texts but these. */
  keep(texts: ReadonlySet<number>): void {
    for (const [text, noted] of this.#noted) {
      if (texts.has(text)) continue;
      this.#noted.delete(text);
      this.#size -= endRowOf(unpacked(noted)) - unpacked(noted).row;
    }
    this.#rebuild(0);
  }

  /**
   * Returns which lines of a text others show: ascending, none of them twice, each with all that stands around it there as well.
   *
   * @param rows of the texts that may be named, where they stand: at higher rows those of higher numbers
   */
  shownIn(text: TextLines, rows: ReadonlyMap<number, number>): readonly ShownRun[] {
    let firstText = Infinity;
    for (const known of rows.keys()) firstText = Math.min(firstText, known);
    if (firstText === Infinity) return [];
    const runs: ShownRun[] = [];
    for (let at = 0; at < text.stretches.length;) {
      const run = this.#longestRun(text, at, runs.at(-1)?.end ?? 0, firstText, rows);
      if (run !== undefined) runs.push(run);
      at = run?.end ?? at + 1;
    }
    return runs;
  }

  /** Of the newest of these texts that have a stretch, what the one shows that shows most; of two, the older one. */
  #longestRun(
    text: TextLines,
    at: number,
    from: number,
    firstText: number,
    rows: ReadonlyMap<number, number>,
  ): ShownRun | undefined {
    const stretch = text.stretches[at] ?? 0;
    if (stretch === 0) return undefined;
    let longest: ShownRun | undefined;
    let compared = 0;
    for (let row = this.#firstOf(stretch); row >= 0; row = this.#nextOf(row)) {
      const known = this.#textAt(row);
      if (known < firstText || compared === MAX_COMPARED) break;
      if (!this.#hasLines(row, text.lines, at) || !rows.has(known)) continue;
      compared += 1;
      const run = this.#runAround(text, at, row, from, rows);
      if (run !== undefined && lengthOf(run) >= lengthOf(longest)) longest = run;
    }
    return longest;
  }

  /** All lines that stand around a line as they do around a row, and are numbered as it is there and here. */
  #runAround(
    text: TextLines,
    at: number,
    row: number,
    from: number,
    rows: ReadonlyMap<number, number>,
  ): ShownRun | undefined {
    const known = this.#textAt(row);
    const noted = unpacked(this.#noted.get(known) ?? 0);
    const numbered = this.#numberedIn(noted);
    const firstLine = firstRowOf(noted) * STRETCH_LINES;
    const place = row * STRETCH_LINES - firstLine;
    const [here, there] = [numberAt(text.numbered, at), numberAt(numbered, place)];
    const isNumberedAlike = (step: number): boolean => {
      const [hereNow, thereNow] = [
        numberAt(text.numbered, at + step),
        numberAt(numbered, place + step),
      ];
      if (here === there) return hereNow === thereNow;
      return hereNow === numberAfter(here, step) && thereNow === numberAfter(there, step);
    };
    const isSame = (step: number): boolean =>
      text.lines[at + step] === this.#rows.lines[firstLine + place + step] && isNumberedAlike(step);
    let [before, behind] = [0, 0];
    const most = Math.min(at - from, place);
    while (before < most && isSame(-before - 1)) before += 1;
    const last = Math.min(text.lines.length - at, noted.count - place);
    while (behind < last && isSame(behind)) behind += 1;
    if (before + behind < STRETCH_LINES) return undefined;
    return {
      start: at - before,
      end: at + behind,
      row: rows.get(known) ?? 0,
      ...(here !== there && { there: numberAfter(there, -before) }),
    };
  }

  #numberedIn({ row, runs }: Noted): readonly NumberedLines[] {
    return Array.from({ length: runs }, (_, at) => {
      const from = (row + at) * STRETCH_LINES;
      const [first = 0, end = 0, number = 0] = this.#rows.lines.subarray(
        from,
        from + STRETCH_LINES,
      );
      return { first, end, number };
    });
  }

  /** Adds a row to its chain, unless its text has that stretch there already. */
  #chain(added: number): void {
    const text = this.#textAt(added);
    const at = added * STRETCH_LINES;
    const stretch = stretchOf(this.#rows.lines, at);
    let before = -1;
    let row = this.#firstOf(stretch);
    for (; row >= 0 && this.#textAt(row) >= text; row = this.#nextOf(row)) {
      if (this.#textAt(row) === text && this.#hasLines(row, this.#rows.lines, at)) return;
      before = row;
    }
    this.#follow(stretch, before, added + 1);
    this.#rows.next[added] = row + 1;
  }

  /** Returns whether it was in a chain. */
  #unchain(gone: number): boolean {
    const { lines, next, unchained } = this.#rows;
    if (next[gone] === unchained) return false;
    const stretch = stretchOf(lines, gone * STRETCH_LINES);
    let before = -1;
    for (let row = this.#firstOf(stretch); row !== gone; row = this.#nextOf(row)) {
      before = row;
    }
    this.#follow(stretch, before, next[gone] ?? END);
    next[gone] = unchained;
    return true;
  }

  /** Has one follow a row, or begin the chain of a stretch. */
  #follow(stretch: number, before: number, following: number): void {
    const { first, next } = this.#rows;
    if (before >= 0) next[before] = following;
    else first[(stretch >>> 0) & (first.length - 1)] = following;
  }

  #firstOf(stretch: number): number {
    const { first } = this.#rows;
    return (first[(stretch >>> 0) & (first.length - 1)] ?? END) - 1;
  }

  #nextOf(row: number): number {
    return (this.#rows.next[row] ?? END) - 1;
  }

  #textAt(row: number): number {
    return this.#texts[this.#rows.texts[row] ?? 0] ?? 0;
  }

  #hasLines(row: number, lines: Int32Array, at: number): boolean {
    const first = row * STRETCH_LINES;
    for (let line = 0; line < STRETCH_LINES; line += 1) {
      if (this.#rows.lines[first + line] !== lines[at + line]) return false;
    }
    return true;
  }

  #reserve(rows: number): void {
    if (this.#used + rows > this.#rows.length) this.#rebuild(rows);
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
      const kept = unpacked(place);
      const [from, start] = [kept.row, this.#used];
      const count = endRowOf(kept) - from;
      this.#used += count;
      this.#rows.texts.fill(this.#texts.push(text) - 1, start, this.#used);
      const taken = former.lines.subarray(from * STRETCH_LINES, (from + count) * STRETCH_LINES);
      this.#rows.lines.set(taken, start * STRETCH_LINES);
      for (let row = 0; row < count; row += 1) {
        if (former.next[from + row] !== former.unchained) this.#chain(start + row);
      }
      this.#noted.set(text, packed({ ...kept, row: start }));
    }
  }
}

function lengthOf(run: ShownRun | undefined): number {
  return run === undefined ? 0 : run.end - run.start;
}

/** What is noted of a text: its first row, how many runs of numbered lines it has, and how many lines. */
interface Noted {
  readonly row: number;
  readonly runs: number;
  readonly count: number;
}

function packed({ row, runs, count }: Noted): number {
  return (row * MANY_RUNS + runs) * MANY_LINES + count;
}

function unpacked(noted: number): Noted {
  const rowAndRuns = Math.floor(noted / MANY_LINES);
  return {
    row: Math.floor(rowAndRuns / MANY_RUNS),
    runs: rowAndRuns % MANY_RUNS,
    count: noted % MANY_LINES,
  };
}

/** The row of its first lines. */
function firstRowOf({ row, runs }: Noted): number {
  return row + runs;
}

function endRowOf(noted: Noted): number {
  return firstRowOf(noted) + rowsFor(noted.count);
}

function rowsFor(lines: number): number {
  return Math.ceil(lines / STRETCH_LINES);
}

function numberAfter(number: number | null, lines: number): number | null {
  return number === null ? null : number + lines;
}
