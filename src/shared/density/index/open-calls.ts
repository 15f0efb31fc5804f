// Which tool calls still wait for their response. Nearly always the answer stands among the last few
// calls, where comparing ids beats hashing every id of a long history.

import { NONE } from './history-columns.js';
import type { CallColumns, PartialColumns, ResponseColumns } from './history-columns.js';

/** Calls within this distance of the newest open one are searched; older ones are hashed. */
const SEARCHED = 32;

/**
 * The open calls of a history. A response belongs to the newest call with its id that has none yet,
 * so each id is a stack.
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

  /** Removes and returns the row of the newest open call with this id, or returns `NONE`. */
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

  /** The rows of all calls that are open still, in no order. */
  rows(): readonly number[] {
    return [...[...this.#older.values()].flat(), ...this.#rows];
  }

  /** Cheaper than `splice`, which would allocate what it removed. */
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
      const row = rows[at] ?? NONE;
      const stack = this.#older.get(id);
      if (stack === undefined) this.#older.set(id, [row]);
      else stack.push(row);
    });
  }
}

/** Tables of one history; no call is answered yet, and no partial response belongs to one. */
export interface UnpairedTables {
  readonly calls: CallColumns;
  readonly responses: ResponseColumns;
  readonly partials: PartialColumns;
}

/**
 * Gives every response the newest call before it that has its id and no response yet. One of a tool that
 * still runs gets such a call as well, and leaves it open. Linear in rows.
 *
 * @param idCount the ids are integers below it
 */
export function pairRows({ calls, responses, partials }: UnpairedTables, idCount: number): void {
  /** By id, its newest open call. */
  const newest = new Int32Array(idCount).fill(NONE);
  /** By call, the open one with its id that came before it. */
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
    newest[id] = older[answered] ?? NONE;
  }
  pairPartialsBefore(Infinity, 0);
}
