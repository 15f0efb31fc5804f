// Results that the model was not sent yet, with their calls: all that of a history's payloads is kept, and only until the
// next answer; and what their lines have in common with what was sent. Shrinks nothing itself.

import type { ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { WorkerPoolError } from '../../errors.js';
import { isShrunk } from '../../shrink/shown-before.js';
import { MIN_SHRUNK_LENGTH } from '../../shrink/shrink-text.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { isGone } from './history-columns.js';
import type { ResponseColumns } from './history-columns.js';
import { KnownStretches } from './shown-lines.js';
import type { ShownRun } from './shown-lines.js';
import { linesOf } from './text-lines.js';
import type { TextLines } from './text-lines.js';
import type { Stretch } from './stretches.js';

/** A result that may be shrunk. */
export interface UnsentResult {
  /** Its row among the responses. */
  readonly row: number;
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock & { readonly result: string };
  readonly lines: TextLines;
  /** What became of it by some settings; `text` is `undefined` when it stays as it is. */
  shrunk?: {
    readonly settings: string;
    readonly text: string | undefined;
    readonly runs: readonly ShownElsewhere[];
  };
}

/** So many calls may wait for their results at a time. */
const MAX_OPEN = 64;

/** Lines are looked for in so many results before one, as long as what of those is noted is no more than so many stretches. */
const WINDOW_RESULTS = 300;
const WINDOW_STRETCHES = 10_000;
/** So much more is noted, as results that go away bring older ones into that window. */
const SLACK = 2;

/** Behind so many results that were sent, nothing of one is noted. */
export const FAR_RESULTS: number = SLACK * WINDOW_RESULTS;

/**
 * Where an entry stands: at the end; far, with at least `FAR_RESULTS` results and then an answer behind it; or wherever a choice among
 * the entries is about to put it, until which nothing is known of who is behind whom.
 */
export type EntryPlace = 'end' | 'far' | 'chosen';

/** How much of that is noted before it is cleared of what is further away. */
const UNCLEARED = 1.125;

/** Stands for no text that lines are told of. */
export const NO_TEXT = 0;

/** The unsent results of one history. */
export class UnsentResults {
  /** By id, the calls that have no result yet, the newest last: the next one is its result. */
  readonly #calls: Map<string, ToolCallBlock[]>;
  readonly #stretches: KnownStretches;
  /** By row, ascending. */
  #results = new Map<number, UnsentResult>();
  #texts: number;
  /** What was noted still when what is far was forgotten last, and unsent results needed it. */
  #needed = { stretches: 0, texts: 0 };

  /** @param former those of the history that this one was made of */
  constructor(former?: UnsentResults) {
    this.#calls = former === undefined ? new Map<string, ToolCallBlock[]>() : former.#calls;
    this.#stretches = former === undefined ? new KnownStretches() : former.#stretches;
    this.#texts = former === undefined ? 0 : former.#texts;
  }

  /** Notes a call whose result may come. */
  noteCall(call: ToolCallBlock): void {
    const open = this.#calls.get(call.id) ?? [];
    this.#calls.delete(call.id);
    this.#calls.set(call.id, [...open.slice(1 - MAX_OPEN), call]);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_OPEN && oldest !== undefined) this.#calls.delete(oldest);
  }

  /**
   * Notes a result. One that is small, no text, or a failure is none to shrink; neither is one that was shrunk, or one of an unknown call.
   *
   * @param responses those of the history, without it
   * @param place where it stands, or will
   * @param lastAnswer the entry in front of which all results were sent
   * @returns the number of its text, or `NO_TEXT`
   */
  noteResult(
    responses: ResponseColumns,
    response: ToolResponseBlock,
    place: EntryPlace,
    lastAnswer: number,
  ): number {
    const { callId, result, error } = response;
    const open = this.#calls.get(callId);
    const call = open?.pop();
    if (open?.length === 0) this.#calls.delete(callId);
    if (Boolean(error) || typeof result !== 'string' || result.length < MIN_SHRUNK_LENGTH) {
      return NO_TEXT;
    }
    if (place === 'far') {
      this.#texts += 1;
      return this.#texts;
    }
    if (place === 'end') this.#forgetFar(responses, lastAnswer);
    const lines = linesIn(response, result);
    if (call !== undefined && !isShrunk(result)) {
      const row = responses.length;
      this.#results.set(row, { row, call, response: { ...response, result }, lines });
    }
    this.#texts += 1;
    this.#stretches.note(this.#texts, lines);
    return this.#texts;
  }

  /** Notes what took the place of a result in a row. Returns the number of its text, or `NO_TEXT`. */
  noteShrunk(row: number, { text: textOf }: ResponseColumns, response: ToolResponseBlock): number {
    this.#results.delete(row);
    const { result } = response;
    const text = textOf.at(row);
    this.#stretches.forget(text);
    if (typeof result !== 'string' || result.length < MIN_SHRUNK_LENGTH) return NO_TEXT;
    this.#stretches.note(text, linesIn(response, result));
    return text;
  }

  /** Forgets those in front of an entry, and returns the others, by row. */
  from(
    entry: number,
    { entry: entryOf }: ResponseColumns,
  ): Pick<ReadonlyMap<number, UnsentResult>, 'get' | 'keys' | 'size' | 'values'> {
    for (const row of this.#results.keys()) {
      if (entryOf.at(row) >= entry) break;
      this.#results.delete(row);
      this.#needed = { stretches: 0, texts: 0 };
    }
    return this.#results;
  }

  /**
   * Which lines of a result earlier ones show: the same however the history came to be what it is.
   *
   * @param stands whether the result in a row stays
   * @throws WorkerPoolError `RESIDENT_OUT_OF_STEP` when so many results went away that it is not known of those before them:
   *   an index that is made anew of the history as it stands knows it
   */
  shownOf(
    { row, lines }: UnsentResult,
    responses: ResponseColumns,
    stands: (row: number) => boolean,
  ): readonly ShownRun[] {
    const rows = new Map<number, number>();
    const isKnown = this.#lookBack(responses, row, 1, (text, earlier) => {
      if (stands(earlier)) rows.set(text, earlier);
    });
    if (!isKnown) throw new WorkerPoolError(FORGOTTEN, 'RESIDENT_OUT_OF_STEP');
    return this.#stretches.shownIn(lines, rows);
  }

  /**
   * The same of a history that has these rows of the former one.
   *
   * @param responses those of the history, in which texts that stand elsewhere than before are given other numbers
   * @param lastAnswer the entry in front of which all its results were sent
   */
  chosen(responses: ResponseColumns, rows: readonly Stretch[], lastAnswer: number): UnsentResults {
    const chosen = new UnsentResults(this);
    const { size } = this.#results;
    let length = 0;
    for (const { start, end } of size === 0 ? [] : rows) {
      // Whichever are fewer are looked at.
      const found =
        end - start < size ? stretchOf(this.#results, start, end) : this.#results.values();
      for (const result of found) {
        const row = length + result.row - start;
        if (result.row >= start && result.row < end) chosen.#results.set(row, { ...result, row });
      }
      length += end - start;
    }
    chosen.#orderTexts(responses);
    chosen.#forgetFar(responses, lastAnswer);
    return chosen;
  }

  /** Gives texts from the first one on that stands in front of an older one new numbers: they are numbered in the order of their rows. */
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
      this.#stretches.move(textOf.at(row), this.#texts);
      textOf.set(row, this.#texts);
    }
  }

  /** Forgets the lines of what is far behind the unsent results, once it is much. */
  #forgetFar(responses: ResponseColumns, lastAnswer: number): void {
    const stretches = this.#stretches;
    const isMuch = (): boolean =>
      stretches.size > UNCLEARED * Math.max(SLACK * WINDOW_STRETCHES, this.#needed.stretches) ||
      stretches.texts > UNCLEARED * Math.max(FAR_RESULTS, this.#needed.texts);
    if (!isMuch()) return;
    const [oldest = responses.text.length] = this.from(lastAnswer, responses).keys();
    const kept = new Set<number>();
    for (let row = oldest; row < responses.text.length; row += 1) kept.add(responses.text.at(row));
    this.#lookBack(responses, oldest, SLACK, (text) => kept.add(text));
    stretches.keep(kept);
    // However many they are: what has to stay is looked through again when it has grown by as large a share.
    this.#needed = { stretches: stretches.size, texts: stretches.texts };
  }

  /**
   * Tells of the texts before a row that are looked at, the newest first, or of so many times as many.
   *
   * @returns whether all of them are known
   */
  #lookBack(
    { text: textOf, flags }: ResponseColumns,
    row: number,
    times: number,
    tell: (text: number, row: number) => void,
  ): boolean {
    let stretches = 0;
    const last = Math.max(0, row - times * WINDOW_RESULTS);
    for (let earlier = row - 1; earlier >= last; earlier -= 1) {
      const text = textOf.at(earlier);
      if (text === NO_TEXT || isGone(flags.at(earlier))) continue;
      const size = this.#stretches.sizeOf(text);
      if (size === undefined) return false;
      stretches += size;
      if (stretches > times * WINDOW_STRETCHES) return true;
      tell(text, earlier);
    }
    return true;
  }
}

function* stretchOf(
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

/** Passes that index a whole history each see the same blocks. */
function linesIn(response: ToolResponseBlock, result: string): TextLines {
  let lines = LINES.get(response);
  if (lines === undefined) {
    lines = linesOf(result);
    LINES.set(response, lines);
  }
  return lines;
}
