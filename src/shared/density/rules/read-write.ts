// The rule `read-write`: a read is stale once all its files were written later; it is removed with
// its response.

import type { PassSettings } from '../../density.js';
import type { CallPlace } from './finding.js';
import { CALL_ACCESS, NONE, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { DensityRule, RowPlaces, RulePass } from './density-rule.js';
import { ACTION } from './marks.js';
import { nameOfCall } from './words.js';

/**
 * Finding on a read and its response. `written-later`: all its files were written later. `current`:
 * they were not.
 */
export interface ReadWriteFinding {
  readonly rule: 'read-write';
  readonly reason: 'written-later' | 'current';
  /** The latest of those writes; `null` for `current`. */
  readonly by: CallPlace | null;
}

/** Removes stale reads. */
export const READ_WRITE: DensityRule<ReadWriteFinding> = {
  name: 'read-write',
  item: 'superseded read',
  counter: 'readWritePairsPruned',
  settings: [
    {
      field: 'readWritePruning',
      description: 'Enable READ→WRITE pair pruning in high-density strategy',
      type: 'boolean',
    },
  ],
  reads: [],
  mark: (pass) => {
    const writtenBy = markStaleReads(pass);
    const { access } = pass.index.calls;
    const ofCall = (call: number, { callAt }: RowPlaces): ReadWriteFinding | undefined => {
      if (access.at(call) !== CALL_ACCESS.read) return undefined;
      const by = writtenBy[call] ?? NONE;
      return by === NONE
        ? { rule: 'read-write', reason: 'current', by: null }
        : { rule: 'read-write', reason: 'written-later', by: callAt(by) };
    };
    return { ofCall, ofResponse: (_, call, places) => ofCall(call, places) };
  },
  say: ({ by, reason }) =>
    reason === 'current'
      ? 'No later write supersedes this read.'
      : `What was read was written later, last by ${nameOfCall(by)}.`,
};

/**
 * Marks every stale read, call and response alike. A write counts from the entry of its call, and
 * only if it succeeded. The read's response must precede that entry for each of its files: a read
 * that ran in parallel with the write, or ended after it, may have seen what was written. Returns by
 * call row the latest write that made it stale, or `NONE`.
 */
function markStaleReads({ index, settings, marks, mark }: RulePass): Int32Array {
  const latestWrite = latestWrites(index, doPartialWritesSupersede(settings));
  const { calls, responses } = index;
  const writtenBy = new Int32Array(calls.length).fill(NONE);
  const [dropped, companion] = [mark(ACTION.drop), mark(ACTION.companion)];
  let endPath = 0;
  for (let row = 0; row < calls.length; row += 1) {
    const firstPath = endPath;
    endPath += calls.pathCount.at(row);
    const response = calls.response.at(row);
    if (calls.access.at(row) !== CALL_ACCESS.read || response === NONE) continue;
    const readAt = responses.entry.at(response);
    let isStale = true;
    let latest = NONE;
    for (let at = firstPath; at < endPath && isStale; at += 1) {
      const write = latestWrite[calls.paths.at(at)] ?? NONE;
      isStale = write !== NONE && calls.entry.at(write) > readAt;
      latest = Math.max(latest, write);
    }
    if (!isStale) continue;
    marks.calls[row] = companion;
    marks.responses[response] = dropped;
    writtenBy[row] = latest;
  }
  return writtenBy;
}

/** By path id, the row of the latest successful write, or `NONE`. */
function latestWrites(index: HistoryIndex, partialWritesSupersede: boolean): Int32Array {
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

/**
 * With a working set, partial writes do not supersede by default: it judges better what an edit
 * leaves of an earlier read.
 */
export function doPartialWritesSupersede(settings: PassSettings): boolean {
  return settings.partialWritesSupersede ?? settings.workingSet === undefined;
}
