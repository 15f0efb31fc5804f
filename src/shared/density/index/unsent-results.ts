// Tracks results that were not sent to the model yet, with their calls, and which lines they share with earlier results. Only
// these payloads are kept, until the next answer.

import { isCompleteResponse } from '../../content.js';
import type { IContent, ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { WorkerPoolError } from '../../errors.js';
import { resultText } from '../../shrink/result-text.js';
import { isShrunk, withoutMark } from '../../shrink/shown-before.js';
import { MIN_SHRUNK_LENGTH } from '../../shrink/shrink-text.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { hasPlaceholder } from './history-columns.js';
import type { ResponseColumns, Stretch } from './history-columns.js';
import { KnownShingles } from './shown-lines.js';
import type { ShownRun } from './shown-lines.js';
import { linesOf } from './text-lines.js';
import type { TextLines } from './text-lines.js';

/** A result that may be shrunk. */
export interface UnsentResult {
  /** Its response row. */
  readonly row: number;
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock;
  /** See `resultText`. */
  readonly text: string;
  readonly lines: TextLines;
  /** Cached outcome for one set of settings; `text` is `undefined` if the result stays as it is. */
  shrunk?: {
    readonly settings: string;
    readonly text: string | undefined;
    /** The lines that it refers to, and the rows of the results that show them. */
    readonly runs: readonly ShownElsewhere[];
    readonly rows: readonly number[];
  };
}

/** Lines to compare with the results before a row. */
export type ComparedLines = Pick<UnsentResult, 'row' | 'lines'>;

/** At most this many ids with open calls are tracked. */
const MAX_OPEN = 64;

/**
 * How far back lines are searched for: at most this many results, with at most this many shingles in total.
 */
const WINDOW_RESULTS = 300;
const WINDOW_SHINGLES = 10_000;
/** The index keeps this many times the window, since removals bring older results into the window. */
const SLACK = 2;

/** Results that this many sent results follow are out of reach: they are not indexed, because no later result refers to them. */
export const REACH_RESULTS: number = SLACK * WINDOW_RESULTS;

/**
 * The position of an appended entry. `end`: at the end, in order. `out-of-reach`: in order too, but followed by at least
 * `REACH_RESULTS` results and then an answer. `moved`: the next selection of entries puts it in its place, and its distance from the
 * end is not known yet. `moved-out-of-reach`: moved too, but known to be out of reach in its final place.
 */
export type EntryPlace = 'end' | 'out-of-reach' | 'moved' | 'moved-out-of-reach';

/** Returns the length of the prefix of a list that at least `REACH_RESULTS` results and then an answer follow; 0 if there is none. */
export function outOfReachLength(contents: readonly IContent[], from: number = 0): number {
  let length = contents.findLastIndex(({ speaker }) => speaker === 'ai');
  let results = 0;
  while (results < REACH_RESULTS && length > from) results += resultsIn(contents[(length -= 1)]);
  return results < REACH_RESULTS ? 0 : length;
}

function resultsIn(entry: IContent | undefined): number {
  let results = 0;
  for (const block of entry?.speaker === 'tool' ? entry.blocks : []) {
    if (isCompleteResponse(block)) results += 1;
  }
  return results;
}

/** The index is cleared when it exceeds what is needed by this factor. */
const UNCLEARED = 1.125;

/** Marks a response without an indexed text. */
export const NO_TEXT = 0;

/** The unsent results of one history. */
export class UnsentResults {
  /** Unanswered calls by id, newest last: a result answers the newest. */
  readonly #calls: Map<string, ToolCallBlock[]>;
  /**
   * The same for moved entries, until they are in their places. Kept apart, because a later call may have the same id.
   */
  readonly #moving = new Map<string, ToolCallBlock[]>();
  readonly #shingles: KnownShingles;
  /** By row, in ascending order. */
  #results = new Map<number, UnsentResult>();
  #texts: number;
  /** What the index had to keep at its last clearing. */
  #needed = { shingles: 0, texts: 0 };
  /** Cache of `outOfReachLengthIn`: the prefix of a list that is out of reach, and the length `of` that list. */
  #outOfReach = { length: 0, of: 0 };

  /** @param former the state of the history that this one derives from; shares its calls and index */
  constructor(former?: UnsentResults) {
    this.#calls = former === undefined ? new Map<string, ToolCallBlock[]>() : former.#calls;
    this.#shingles = former === undefined ? new KnownShingles() : former.#shingles;
    this.#texts = former === undefined ? 0 : former.#texts;
  }

  /** Like `outOfReachLength`, but cached, so that a long list that is appended in many steps is scanned once. */
  outOfReachLengthIn(contents: readonly IContent[], from: number): number {
    const { length: of } = contents;
    if (this.#outOfReach.of !== of)
      this.#outOfReach = { length: outOfReachLength(contents, from), of };
    return this.#outOfReach.length;
  }

  /** Remembers a call whose result may follow. */
  noteCall(call: ToolCallBlock, place: EntryPlace): void {
    const calls = this.#openAt(place);
    const open = calls.get(call.id) ?? [];
    calls.delete(call.id);
    calls.set(call.id, [...open.slice(1 - MAX_OPEN), call]);
    const [oldest] = calls.keys();
    if (calls.size > MAX_OPEN && oldest !== undefined) calls.delete(oldest);
  }

  #openAt(place: EntryPlace): Map<string, ToolCallBlock[]> {
    return place === 'end' || place === 'out-of-reach' ? this.#calls : this.#moving;
  }

  /**
   * Registers a result. It may be shrunk unless it is short, has no text, failed, is shrunk already, is far back, answers an unknown
   * call, or has media: shrinking leaves only text, and the model has not seen the media yet.
   *
   * @param responses the columns of the history, still without this result
   * @param place the position of its entry
   * @param lastAnswer the entry before which all results were sent
   * @returns the number of its text; `NO_TEXT` if it is short, has no text or failed
   */
  noteResult(
    responses: ResponseColumns,
    response: ToolResponseBlock,
    place: EntryPlace,
    lastAnswer: number,
  ): number {
    const { callId, result, error, mediaTokens = 0 } = response;
    const calls = this.#openAt(place);
    const open = calls.get(callId);
    const call = open?.pop();
    if (open?.length === 0) calls.delete(callId);
    const isSeen = !error && (mediaTokens === 0 || typeof result === 'string');
    const text = isSeen ? resultText(result) : undefined;
    if (text === undefined || text.length < MIN_SHRUNK_LENGTH) return NO_TEXT;
    if (place === 'out-of-reach' || place === 'moved-out-of-reach') {
      this.#texts += 1;
      return this.#texts;
    }
    if (place === 'end') this.#forgetOutOfReach(responses, lastAnswer);
    const lines = cachedLinesOf(response, text);
    if (call !== undefined && mediaTokens === 0 && !isShrunk(text)) {
      const row = responses.length;
      this.#results.set(row, { row, call, response, text, lines });
    }
    this.#texts += 1;
    this.#shingles.note(this.#texts, lines);
    return this.#texts;
  }

  /** Registers the new text of an unsent result whose entry was edited. Returns the number of its text, or `NO_TEXT`. */
  noteShrunk(row: number, { text: textOf }: ResponseColumns, response: ToolResponseBlock): number {
    const seen = resultText(response.result);
    this.#results.delete(row);
    const text = textOf.at(row);
    this.#shingles.forget(text);
    if (seen === undefined || seen.length < MIN_SHRUNK_LENGTH) return NO_TEXT;
    const lines = cachedLinesOf(response, seen);
    this.#shingles.note(text, lines);
    return text;
  }

  /** Drops the unsent results before an entry and returns the others, by row. */
  from(
    entry: number,
    { entry: entryOf }: ResponseColumns,
  ): Pick<ReadonlyMap<number, UnsentResult>, 'get' | 'keys' | 'size' | 'values'> {
    for (const row of this.#results.keys()) {
      if (entryOf.at(row) >= entry) break;
      this.#results.delete(row);
      this.#needed = { shingles: 0, texts: 0 };
    }
    return this.#results;
  }

  /**
   * Returns the lines of a result that earlier results show. Depends only on the current history, not on the edits that led to it.
   *
   * @param result its row, and the lines of what shrinkers leave of it
   * @param mayBeSource whether references may name the result in a row
   * @throws WorkerPoolError `RESIDENT_OUT_OF_STEP` when so many results were removed that the window reaches results that are no
   *   longer indexed: a new index of the current history contains them
   */
  shownOf(
    { row, lines }: ComparedLines,
    responses: ResponseColumns,
    mayBeSource: (row: number) => boolean,
  ): readonly ShownRun[] {
    const rows = new Map<number, number>();
    const isKnown = this.#lookBack(responses, row, 1, (text, earlier) => rows.set(text, earlier));
    if (!isKnown) throw new WorkerPoolError(FORGOTTEN, 'RESIDENT_OUT_OF_STEP');
    return this.#shingles.shownIn(lines, rows, mayBeSource);
  }

  /**
   * Returns the state for a history that consists of these rows.
   *
   * @param responses the columns of that history; texts that are out of order are renumbered in them
   * @param lastAnswer the entry of that history before which all results were sent
   */
  chosen(responses: ResponseColumns, rows: readonly Stretch[], lastAnswer: number): UnsentResults {
    const chosen = new UnsentResults(this);
    for (const [id, calls] of this.#moving) {
      if (this.#calls.size < MAX_OPEN && !this.#calls.has(id)) this.#calls.set(id, calls);
    }
    const { size } = this.#results;
    let length = 0;
    for (const { start, end } of size === 0 ? [] : rows) {
      // Iterate over whichever is smaller.
      const found =
        end - start < size ? resultsBetween(this.#results, start, end) : this.#results.values();
      for (const result of found) {
        const row = length + result.row - start;
        if (result.row >= start && result.row < end) chosen.#results.set(row, { ...result, row });
      }
      length += end - start;
    }
    chosen.#orderTexts(responses);
    chosen.#forgetOutOfReach(responses, lastAnswer);
    return chosen;
  }

  /** Renumbers texts so that their numbers ascend with rows, starting at the first text that a smaller number follows. */
  #orderTexts({ text: textOf }: ResponseColumns): void {
    let first = textOf.length;
    let next = Infinity;
    for (let row = textOf.length - 1; row >= 0; row -= 1) {
      const text = textOf.at(row);
      if (text === NO_TEXT) continue;
      if (text > next) first = row;
      next = Math.min(next, text);
    }
    for (let row = first; row < textOf.length; row += 1) {
      if (textOf.at(row) === NO_TEXT) continue;
      this.#texts += 1;
      this.#shingles.move(textOf.at(row), this.#texts);
      textOf.set(row, this.#texts);
    }
  }

  /** Drops texts far before the unsent results from the index, once it has grown large. */
  #forgetOutOfReach(responses: ResponseColumns, lastAnswer: number): void {
    const shingles = this.#shingles;
    const isLarge = (): boolean =>
      shingles.size > UNCLEARED * Math.max(SLACK * WINDOW_SHINGLES, this.#needed.shingles) ||
      shingles.texts > UNCLEARED * Math.max(REACH_RESULTS, this.#needed.texts);
    if (!isLarge()) return;
    const [oldest = responses.text.length] = this.from(lastAnswer, responses).keys();
    const kept = new Set<number>();
    for (let row = oldest; row < responses.text.length; row += 1) kept.add(responses.text.at(row));
    this.#lookBack(responses, oldest, SLACK, (text) => kept.add(text));
    shingles.keep(kept);
    // The next clearing waits for growth in proportion to what had to stay, so that the amortized cost stays constant.
    this.#needed = { shingles: shingles.size, texts: shingles.texts };
  }

  /**
   * Calls `tell` for the texts before a row, newest first, up to `times` the size of the window.
   *
   * @returns whether all texts in that range are indexed
   */
  #lookBack(
    { text: textOf, flags }: ResponseColumns,
    row: number,
    times: number,
    tell: (text: number, row: number) => void,
  ): boolean {
    let shingles = 0;
    const last = Math.max(0, row - times * WINDOW_RESULTS);
    for (let earlier = row - 1; earlier >= last; earlier -= 1) {
      const text = textOf.at(earlier);
      if (text === NO_TEXT || hasPlaceholder(flags.at(earlier))) continue;
      const size = this.#shingles.sizeOf(text);
      if (size === undefined) return false;
      shingles += size;
      if (shingles > times * WINDOW_SHINGLES) return true;
      tell(text, earlier);
    }
    return true;
  }
}

function* resultsBetween(
  results: ReadonlyMap<number, UnsentResult>,
  start: number,
  end: number,
): Generator<UnsentResult> {
  for (let row = start; row < end; row += 1) {
    const result = results.get(row);
    if (result !== undefined) yield result;
  }
}

const FORGOTTEN = 'Of results so far back is not known any more which lines they have.';

const LINES = new WeakMap<ToolResponseBlock, TextLines>();

/** Cached by block, because each pass that rebuilds the index of a history sees the same blocks. */
function cachedLinesOf(response: ToolResponseBlock, text: string): TextLines {
  let lines = LINES.get(response);
  if (lines === undefined) {
    // The mark of a shrunk result is stripped, so that JSON in a single line is recognized as a whole.
    lines = linesOf(withoutMark(text));
    LINES.set(response, lines);
  }
  return lines;
}
