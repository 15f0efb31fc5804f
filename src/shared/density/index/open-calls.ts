// Which tool calls still wait for their response. Nearly always the answer stands among the last few
// calls, where comparing ids beats hashing every id of a long history.

import { NONE } from './history-columns.js';

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
