// First phase: a read whose files were all written later is stale, and leaves together with its response.

import { CALL_ACCESS, NONE, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';

/** Which rows of an index's tables a phase drops: 1 marks a row. */
export interface PairMarks {
  readonly calls: Uint8Array;
  readonly responses: Uint8Array;
}

/**
 * Marks every stale read, call and response alike; returns how many pairs. A write counts from the
 * entry of its call on, and only once it has succeeded. A read is stale when its response stood in
 * the history before the entry of such a write, for each of its files: a read that ran in parallel
 * with the write, or ended after it, may have seen what was written.
 */
export function markStaleReads(
  index: HistoryIndex,
  partialWritesSupersede: boolean,
  marks: PairMarks,
): number {
  const latestWrite = latestWrites(index, partialWritesSupersede);
  const { calls, responses } = index;
  let marked = 0;
  let endPath = 0;
  for (let row = 0; row < calls.length; row += 1) {
    const firstPath = endPath;
    endPath += calls.pathCount.at(row);
    const response = calls.response.at(row);
    if (calls.access.at(row) !== CALL_ACCESS.read || response === NONE) continue;
    const readAt = responses.entry.at(response);
    let isStale = true;
    for (let at = firstPath; at < endPath && isStale; at += 1) {
      const write = latestWrite[calls.paths.at(at)] ?? NONE;
      isStale = write !== NONE && calls.entry.at(write) > readAt;
    }
    if (!isStale) continue;
    marks.calls[row] = 1;
    marks.responses[response] = 1;
    marked += 1;
  }
  return marked;
}

/** By path id, the row of the latest call that wrote the file, or `NONE`. */
export function latestWrites(index: HistoryIndex, partialWritesSupersede: boolean): Int32Array {
  const { calls, responses } = index;
  const latest = new Int32Array(index.pathCount).fill(NONE);
  let endPath = 0;
  for (let row = 0; row < calls.length; row += 1) {
    const firstPath = endPath;
    endPath += calls.pathCount.at(row);
    const access = calls.access.at(row);
    const isWrite =
      access === CALL_ACCESS.writeWhole ||
      (access === CALL_ACCESS.writePart && partialWritesSupersede);
    const response = calls.response.at(row);
    if (!isWrite || response === NONE) continue;
    if ((responses.flags.at(response) & RESPONSE_FLAG.failed) !== 0) continue;
    for (let at = firstPath; at < endPath; at += 1) {
      latest[calls.paths.at(at)] = row;
    }
  }
  return latest;
}
