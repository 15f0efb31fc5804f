// Pairs the rows of whole tables by the numbers of their ids: what `OpenCalls` does while entries come in, at once.

import type { CallColumns, PartialColumns, ResponseColumns } from './history-columns.js';
import { NONE } from './history-columns.js';

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
