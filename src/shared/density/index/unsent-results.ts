// Results that the model was not sent yet, with their calls: all that of a history's payloads is kept, and only until the
// next answer; and what their lines have in common with what was sent. Shrinks nothing itself.

import type { ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { MIN_SHRUNK_LENGTH } from '../../shrink/shrink-text.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { isGone } from './history-columns.js';
import type { ResponseColumns } from './history-columns.js';
import { KnownStretches, stretchNumbers } from './shown-lines.js';
import type { ShownRun, StretchNumbers } from './shown-lines.js';
import type { Stretch } from './stretches.js';

/** A result that may be shrunk. */
export interface UnsentResult {
  /** Its row among the responses. */
  readonly row: number;
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock & { readonly result: string };
  /** What earlier results show of it, by the numbers of their texts. */
  readonly shown: readonly ShownRun[];
  /** What became of it by some settings; `text` is `undefined` when it stays as it is. */
  shrunk?: {
    readonly settings: string;
    readonly text: string | undefined;
    readonly runs: readonly ShownElsewhere[];
  };
}

/** So many calls may wait for their results at a time. */
const MAX_OPEN = 64;

/** Stands for no text that lines are told of. */
export const NO_TEXT = 0;

/** The unsent results of one history. */
export class UnsentResults {
  readonly #calls: Map<string, ToolCallBlock>;
  readonly #stretches: KnownStretches;
  /** By call, the number of its text; of the newest calls. */
  readonly #textOf: Map<string, number>;
  #results: UnsentResult[] = [];
  /** The numbers of the texts that stand. */
  #live: Set<number>;
  #texts: number;

  /** @param former those of the history that this one was made of */
  constructor(former?: UnsentResults) {
    this.#calls = former === undefined ? new Map<string, ToolCallBlock>() : former.#calls;
    this.#stretches = former === undefined ? new KnownStretches() : former.#stretches;
    this.#textOf = former === undefined ? new Map<string, number>() : former.#textOf;
    this.#texts = former === undefined ? 0 : former.#texts;
    this.#live = new Set();
  }

  /** Notes a call whose result may come. */
  noteCall(call: ToolCallBlock): void {
    noteIn(this.#calls, call.id, call);
  }

  /**
   * Notes a result. One that is small, no text, or a failure is none to shrink, and neither is one of an unknown call.
   *
   * @param row its row among the responses
   * @returns the number of its text, or `NO_TEXT`
   */
  noteResult(row: number, response: ToolResponseBlock): number {
    const { callId, result, error } = response;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (Boolean(error) || typeof result !== 'string') return NO_TEXT;
    if (result.length < MIN_SHRUNK_LENGTH) return NO_TEXT;
    this.#texts += 1;
    // What takes the place of a result shows what is left of it from now on.
    this.#live.delete(this.#textOf.get(callId) ?? NO_TEXT);
    noteIn(this.#textOf, callId, this.#texts);
    const numbers = numbersOf(response, result);
    const shown = this.#stretches.note(this.#texts, numbers, (text) => this.#live.has(text));
    this.#live.add(this.#texts);
    if (call !== undefined)
      this.#results.push({ row, call, response: { ...response, result }, shown });
    return this.#texts;
  }

  /** Notes what took the place of a result. Returns the number of its text, or `NO_TEXT`. */
  noteShrunk(row: number, text: number, response: ToolResponseBlock): number {
    this.#live.delete(text);
    this.#results = this.#results.filter((result) => result.row !== row);
    return this.noteResult(row, response);
  }

  /** Forgets those in front of an entry, and returns the others. */
  from(entry: number, { entry: entryOf }: ResponseColumns): readonly UnsentResult[] {
    if (this.#results.some(({ row }) => entryOf.at(row) < entry)) {
      this.#results = this.#results.filter(({ row }) => entryOf.at(row) >= entry);
    }
    return this.#results;
  }

  /** The same of a history that has these responses, which were these rows of the former one. */
  chosen(responses: ResponseColumns, rows: readonly Stretch[]): UnsentResults {
    const chosen = new UnsentResults(this);
    for (let row = 0; row < responses.text.length; row += 1) {
      const isThere = !isGone(responses.flags.at(row));
      if (isThere && responses.text.at(row) !== NO_TEXT) chosen.#live.add(responses.text.at(row));
    }
    let length = 0;
    for (const { start, end } of this.#results.length === 0 ? [] : rows) {
      for (const result of this.#results) {
        const { row } = result;
        if (row >= start && row < end)
          chosen.#results.push({ ...result, row: length + row - start });
      }
      length += end - start;
    }
    return chosen;
  }
}

/** Notes something by the id of a call, and forgets the oldest of too many. */
function noteIn<Value>(byCall: Map<string, Value>, callId: string, value: Value): void {
  byCall.delete(callId);
  byCall.set(callId, value);
  const [oldest] = byCall.keys();
  if (byCall.size > MAX_OPEN && oldest !== undefined) byCall.delete(oldest);
}

const NUMBERS = new WeakMap<ToolResponseBlock, StretchNumbers>();

/** Passes that index a whole history each see the same blocks. */
function numbersOf(response: ToolResponseBlock, result: string): StretchNumbers {
  let numbers = NUMBERS.get(response);
  if (numbers === undefined) {
    numbers = stretchNumbers(result);
    NUMBERS.set(response, numbers);
  }
  return numbers;
}
