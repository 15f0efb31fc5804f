// Finds lines that several results share. Stores hashes of lines, no text: each text is cut into shingles (runs of a few lines),
// which are looked up in a hash table with chaining. Callers decide which texts may be found and which are kept.

import { END, FIRST_ROWS, ShingleRows } from './shingle-rows.js';
import { numberAt, SHINGLE_LINES, shingleOf } from './text-lines.js';
import type { TextLines } from './text-lines.js';

/** Only this many lines from the start of a text are indexed. */
const MAX_NOTED_LINES = 4_096;

/** Consecutive lines of a text that an earlier one shows too. */
export interface ShownRun {
  /** First line, and end (exclusive). */
  readonly start: number;
  readonly end: number;
  /** The row of the result that shows them. */
  readonly row: number;
  /**
   * Line number of the first line in the source, `null` if it has none; absent if both are numbered the same or unnumbered.
   */
  readonly sourceNumber?: number | null;
  /** Set if both are unnumbered and the run is not where a reader would look for it in the source. */
  readonly isHardToFind?: true;
}

/** A run that was found in an earlier text. */
interface FoundRun extends Omit<ShownRun, 'isHardToFind'> {
  /** The numbers of lines in the source before and after the run. */
  readonly before: number;
  readonly behind: number;
}

/** A run counts as in its place if it is off by at most this many lines, because hosts add lines around a text. */
const MAX_OFFSET_LINES = 3;

/** At most this many texts that contain a shingle are tried, those that may not be referred to included. */
const MAX_TRIED = 16;

/**
 * The indexed lines of one history's results. Texts are identified by numbers that ascend in history order. A text occupies
 * consecutive rows, one per shingle. Each chain starts with the newest text.
 */
export class KnownShingles {
  #rows = new ShingleRows(FIRST_ROWS);
  /** Rows in use, including those of forgotten texts. */
  #used = 0;
  readonly #noted = new Map<number, Noted>();
  #size = 0;

  /** The number of indexed shingles. */
  get size(): number {
    return this.#size;
  }

  /** The number of indexed texts. */
  get texts(): number {
    return this.#noted.size;
  }

  /** Indexes a text that is not indexed yet. */
  note(text: number, { lines, shingles, numbered }: TextLines): void {
    const count = Math.min(lines.length, MAX_NOTED_LINES);
    const added = rowsFor(count);
    if (this.#used + added > this.#rows.length) this.#rebuild(added);
    const noted: Noted = { row: this.#used, count, numbered };
    const [first, end] = [noted.row, endRowOf(noted)];
    this.#used = end;
    this.#size += end - first;
    this.#noted.set(text, noted);
    const rows = this.#rows;
    rows.texts.fill(text, first, end);
    rows.lines.set(lines.subarray(0, count), first * SHINGLE_LINES);
    for (let at = 0; at + SHINGLE_LINES <= count; at += SHINGLE_LINES) {
      if (shingles[at] !== 0) this.#chain(first + at / SHINGLE_LINES);
    }
  }

  /** How many shingles of a text are indexed; `undefined` if it is unknown. */
  sizeOf(text: number): number | undefined {
    const noted = this.#noted.get(text);
    return noted === undefined ? undefined : rowsFor(noted.count);
  }

  /** Renumbers a text. */
  move(text: number, to: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined || text === to) return;
    this.#noted.delete(text);
    this.#noted.set(to, noted);
    const [start, end] = [noted.row, endRowOf(noted)];
    const chained: number[] = [];
    for (let row = start; row < end; row += 1) if (this.#unchain(row)) chained.push(row);
    this.#rows.texts.fill(to, start, end);
    for (const row of chained) this.#chain(row);
  }

  forget(text: number): void {
    const noted = this.#noted.get(text);
    if (noted === undefined) return;
    this.#noted.delete(text);
    const [start, end] = [noted.row, endRowOf(noted)];
    this.#size -= end - start;
    for (let row = start; row < end; row += 1) this.#unchain(row);
  }

  keep(texts: ReadonlySet<number>): void {
    for (const [text, noted] of this.#noted) {
      if (texts.has(text)) continue;
      this.#noted.delete(text);
      this.#size -= endRowOf(noted) - noted.row;
    }
    this.#rebuild(0);
  }

  /**
   * Returns the runs of lines of a text that other texts show: ascending, disjoint, each as long as its text goes on alike.
   *
   * @param rows by number of each text that may be referred to, the row of its result; rows ascend with the numbers
   * @param isWanted whether that row may be referred to; asked only of texts that share lines @default all may
   */
  shownIn(
    text: TextLines,
    rows: ReadonlyMap<number, number>,
    isWanted: (row: number) => boolean = () => true,
  ): readonly ShownRun[] {
    let firstText = Infinity;
    for (const known of rows.keys()) firstText = Math.min(firstText, known);
    if (firstText === Infinity) return [];
    const runs: ShownRun[] = [];
    let end = 0;
    for (let at = 0; at < text.shingles.length;) {
      const found = this.#newestRun(text, at, end, firstText, rows, isWanted);
      if (found !== undefined) {
        const { before: _, behind: __, ...run } = found;
        const isHardToFind = !('sourceNumber' in run) && !isWhereExpected(text, found);
        runs.push(isHardToFind ? { ...run, isHardToFind } : run);
        end = found.end;
      }
      at = found?.end ?? at + 1;
    }
    return runs;
  }

  /** Returns the run of the newest text with the shingle at `at`. */
  #newestRun(
    text: TextLines,
    at: number,
    from: number,
    firstText: number,
    rows: ReadonlyMap<number, number>,
    isWanted: (row: number) => boolean,
  ): FoundRun | undefined {
    const shingle = text.shingles[at] ?? 0;
    if (shingle === 0) return undefined;
    let tried = 0;
    for (let row = this.#firstOf(shingle); row >= 0; row = this.#nextOf(row)) {
      const known = this.#textAt(row);
      if (known < firstText || tried === MAX_TRIED) break;
      const source = rows.get(known);
      if (source === undefined || !this.#hasLines(row, text.lines, at)) continue;
      tried += 1;
      if (!isWanted(source)) continue;
      const run = this.#runAround(text, at, row, from, rows);
      if (run !== undefined) return run;
    }
    return undefined;
  }

  /** Extends a match in both directions while the lines and their numbering agree. */
  #runAround(
    text: TextLines,
    at: number,
    row: number,
    from: number,
    rows: ReadonlyMap<number, number>,
  ): FoundRun | undefined {
    const known = this.#textAt(row);
    const noted = this.#noted.get(known);
    if (noted === undefined) return undefined;
    const { numbered } = noted;
    const firstLine = noted.row * SHINGLE_LINES;
    const place = row * SHINGLE_LINES - firstLine;
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
    if (before + behind < SHINGLE_LINES) return undefined;
    return {
      start: at - before,
      end: Math.min(at + behind, text.count),
      row: rows.get(known) ?? 0,
      before: place - before,
      behind: noted.count - place - behind,
      ...(here !== there && { sourceNumber: numberAfter(there, -before) }),
    };
  }

  /** Adds a row to its chain, unless the chain already has this shingle of the same text. */
  #chain(added: number): void {
    const text = this.#textAt(added);
    const at = added * SHINGLE_LINES;
    const shingle = shingleOf(this.#rows.lines, at);
    let before = -1;
    let row = this.#firstOf(shingle);
    for (; row >= 0 && this.#textAt(row) >= text; row = this.#nextOf(row)) {
      if (this.#textAt(row) === text && this.#hasLines(row, this.#rows.lines, at)) return;
      before = row;
    }
    this.#follow(shingle, before, added + 1);
    this.#rows.next[added] = row + 1;
  }

  /** Returns whether the row was in a chain. */
  #unchain(gone: number): boolean {
    const { lines, next, unchained } = this.#rows;
    if (next[gone] === unchained) return false;
    const shingle = shingleOf(lines, gone * SHINGLE_LINES);
    let before = -1;
    for (let row = this.#firstOf(shingle); row !== gone; row = this.#nextOf(row)) {
      before = row;
    }
    this.#follow(shingle, before, next[gone] ?? END);
    next[gone] = unchained;
    return true;
  }

  /** Makes `following` the successor of the row `before`, or the head of the chain if `before` is negative. */
  #follow(shingle: number, before: number, following: number): void {
    const { first, next } = this.#rows;
    if (before >= 0) next[before] = following;
    else first[(shingle >>> 0) & (first.length - 1)] = following;
  }

  #firstOf(shingle: number): number {
    const { first } = this.#rows;
    return (first[(shingle >>> 0) & (first.length - 1)] ?? END) - 1;
  }

  #nextOf(row: number): number {
    return (this.#rows.next[row] ?? END) - 1;
  }

  #textAt(row: number): number {
    return this.#rows.texts[row] ?? 0;
  }

  #hasLines(row: number, lines: Int32Array, at: number): boolean {
    const first = row * SHINGLE_LINES;
    for (let line = 0; line < SHINGLE_LINES; line += 1) {
      if (this.#rows.lines[first + line] !== lines[at + line]) return false;
    }
    return true;
  }

  /** Rebuilds the table without forgotten texts and with room for more rows. */
  #rebuild(rows: number): void {
    const former = this.#rows;
    // Oldest first, since each insertion goes to the head of its chain.
    const noted = [...this.#noted].sort(([a], [b]) => a - b);
    const needed = this.#size + rows;
    this.#rows = new ShingleRows(Math.max(FIRST_ROWS, needed + (needed >> 3)));
    this.#used = 0;
    for (const [text, kept] of noted) {
      const [from, start] = [kept.row, this.#used];
      const count = endRowOf(kept) - from;
      this.#used += count;
      this.#rows.texts.fill(text, start, this.#used);
      const taken = former.lines.subarray(from * SHINGLE_LINES, (from + count) * SHINGLE_LINES);
      this.#rows.lines.set(taken, start * SHINGLE_LINES);
      for (let row = 0; row < count; row += 1) {
        if (former.next[from + row] !== former.unchained) this.#chain(start + row);
      }
      this.#noted.set(text, { ...kept, row: start });
    }
  }
}

/**
 * Whether a run is in the source where a reader would look for it: under the same line numbers, as far from the start or the end as
 * here, or alone.
 */
function isWhereExpected(text: TextLines, run: FoundRun): boolean {
  if (numberAt(text.numbered, run.start) !== null) return true;
  const isNear = (there: number, here: number): boolean =>
    Math.abs(there - here) <= MAX_OFFSET_LINES;
  if (isNear(run.before, run.start) || isNear(run.behind, text.count - run.end)) return true;
  return run.before + run.behind <= MAX_OFFSET_LINES;
}

/** An indexed text: its first row, how many of its lines are indexed, and which of its lines are numbered. */
interface Noted extends Pick<TextLines, 'numbered'> {
  readonly row: number;
  readonly count: number;
}

function endRowOf({ row, count }: Noted): number {
  return row + rowsFor(count);
}

function rowsFor(lines: number): number {
  return Math.ceil(lines / SHINGLE_LINES);
}

function numberAfter(number: number | null, lines: number): number | null {
  return number === null ? null : number + lines;
}
