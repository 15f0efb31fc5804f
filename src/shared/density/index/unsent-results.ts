// Results that the model was not sent yet, with their calls: all that of a history's payloads is kept, and only until the
// next answer. Shrinks nothing itself.

import type { ToolCallBlock, ToolResponseBlock } from '../../content.js';
import { MIN_SHRUNK_LENGTH } from '../../shrink/shrink-text.js';
import { hashOf } from './hash.js';
import type { ResponseColumns } from './history-columns.js';
import type { Stretch } from './stretches.js';

/** A result that may be shrunk. */
export interface UnsentResult {
  /** Its row among the responses. */
  readonly row: number;
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock & { readonly result: string };
  /** What became of it by some settings; `text` is `undefined` when it stays as it is. */
  shrunk?: { readonly settings: string; readonly text: string | undefined };
}

/** So many calls may wait for their results at a time. */
const MAX_OPEN = 64;

/** The unsent results of one history. */
export class UnsentResults {
  readonly #calls = new Map<string, ToolCallBlock>();
  #results: UnsentResult[] = [];

  /** Notes a call whose result may come. */
  noteCall(call: ToolCallBlock): void {
    this.#calls.delete(call.id);
    this.#calls.set(call.id, call);
    if (this.#calls.size <= MAX_OPEN) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  /** Notes a result; one that is small, no text, a failure, or of an unknown call is none to shrink. */
  noteResult(row: number, response: ToolResponseBlock): void {
    const { callId, result, error } = response;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call === undefined || Boolean(error) || typeof result !== 'string') return;
    if (result.length >= MIN_SHRUNK_LENGTH) {
      this.#results.push({ row, call, response: { ...response, result } });
    }
  }

  /** Forgets those in front of an entry, and returns the others. */
  from(entry: number, { entry: entryOf }: ResponseColumns): readonly UnsentResult[] {
    if (this.#results.some(({ row }) => entryOf.at(row) < entry)) {
      this.#results = this.#results.filter(({ row }) => entryOf.at(row) >= entry);
    }
    return this.#results;
  }

  /** The same in a history that has these rows of responses. */
  chosen(rows: readonly Stretch[]): UnsentResults {
    const chosen = new UnsentResults();
    for (const [id, call] of this.#calls) chosen.#calls.set(id, call);
    let length = 0;
    for (const { start, end } of this.#results.length === 0 ? [] : rows) {
      for (const result of this.#results) {
        const { row } = result;
        if (row < start || row >= end) continue;
        chosen.#results.push({ ...result, row: length + row - start });
      }
      length += end - start;
    }
    return chosen;
  }
}

/** Stands for no text that is worth being told again. */
export const NO_TEXT = 0;

const HASHES = new WeakMap<ToolResponseBlock, number>();

/** One number for the text of a result, to be compared within this thread; `NO_TEXT` for one that is none, or small. */
export function textNumberOf(response: ToolResponseBlock): number {
  const { result } = response;
  if (typeof result !== 'string' || result.length < MIN_SHRUNK_LENGTH) return NO_TEXT;
  const known = HASHES.get(response);
  if (known !== undefined) return known;
  const hash = Math.imul(hashOf(result) ^ result.length, 0x01000193) || 1;
  HASHES.set(response, hash);
  return hash;
}
