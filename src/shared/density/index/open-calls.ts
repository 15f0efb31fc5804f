// Pairs tool calls with their responses: one by one as entries arrive, or for whole tables at once.

import { pushTo } from '../../lists-by-key.js';
import { NONE } from './history-columns.js';
import type { AnswerColumns, CallColumns } from './history-columns.js';

/**
 * This many of the newest open calls are searched linearly; older ones are hashed. Most responses
 * answer one of the last few calls, where comparing ids beats hashing every id.
 */
const SEARCHED = 32;

/**
 * The open calls of a history. A response answers the newest open call with its id, so each id has
 * a stack.
 */
export class OpenCalls {
  readonly #ids: string[] = [];
  readonly #rows: number[] = [];
  readonly #older = new Map<string, number[]>();

  add(id: string, row: number): void {
    this.#ids.push(id);
    this.#rows.push(row);
    if (this.#ids.length > SEARCHED * 2) this.#hashOldest();
  }

  /** Removes the newest open call with this id and returns its row, or `NONE`. */
  take(id: string): number {
    for (let at = this.#ids.length - 1; at >= 0; at -= 1) {
      if (this.#ids[at] !== id) continue;
      const row = this.#rows[at] ?? NONE;
      this.#closeGap(at);
      return row;
    }
    const rows = this.#older.get(id);
    const row = rows?.pop() ?? NONE;
    if (rows?.length === 0) this.#older.delete(id);
    return row;
  }

  /** The row of the newest open call with this id, or `NONE`. */
  newest(id: string): number {
    const row = this.take(id);
    if (row !== NONE) this.add(id, row);
    return row;
  }

  /** Unlike `splice`, allocates nothing. */
  #closeGap(gap: number): void {
    for (let at = gap + 1; at < this.#ids.length; at += 1) {
      this.#ids[at - 1] = this.#ids[at] ?? '';
      this.#rows[at - 1] = this.#rows[at] ?? NONE;
    }
    this.#ids.pop();
    this.#rows.pop();
  }

  #hashOldest(): void {
    const rows = this.#rows.splice(0, SEARCHED);
    this.#ids.splice(0, SEARCHED).forEach((id, at) => {
      pushTo(this.#older, id, rows[at] ?? NONE);
    });
  }
}

/** Tables of one history, in which nothing is paired yet. */
export interface UnpairedTables {
  readonly calls: CallColumns;
  readonly responses: AnswerColumns;
  readonly partials: AnswerColumns;
}

/**
 * Pairs every response with the newest earlier call that has its id and no response yet. A partial
 * response is paired too, but leaves the call open. Linear in rows.
 *
 * @param idCount ids are integers below this
 */
export function pairRows({ calls, responses, partials }: UnpairedTables, idCount: number): void {
  /** By id, the newest open call. */
  const newest = new Int32Array(idCount).fill(NONE);
  /** By call, the previous open call with its id. */
  const older = new Int32Array(calls.length);
  let call = 0;
  const openCallsBefore = (entry: number): void => {
    for (; call < calls.length && calls.entry.at(call) < entry; call += 1) {
      const id = calls.id.at(call);
      older[call] = newest[id] ?? NONE;
      newest[id] = call;
    }
  };
  let partial = 0;
  const pairPartialsBefore = (entry: number, block: number): void => {
    for (; partial < partials.length; partial += 1) {
      const at = partials.entry.at(partial);
      if (at > entry || (at === entry && partials.block.at(partial) > block)) return;
      openCallsBefore(at);
      partials.call.set(partial, newest[partials.id.at(partial)] ?? NONE);
    }
  };
  for (let response = 0; response < responses.length; response += 1) {
    const entry = responses.entry.at(response);
    pairPartialsBefore(entry, responses.block.at(response));
    openCallsBefore(entry);
    const id = responses.id.at(response);
    const answered = newest[id] ?? NONE;
    if (answered === NONE) continue;
    calls.response.set(answered, response);
    responses.call.set(response, answered);
    newest[id] = older[answered] ?? NONE;
  }
  pairPartialsBefore(Infinity, 0);
}
