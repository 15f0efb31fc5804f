// Puts the parts of the fourth phase together: results that left the working set leave the history when that
// is worth it.

import { CALL_KIND, isGone, isOutput, NONE, RESULT_MARK } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { isStale, judgeWorkingSet, WORKING_SET_REASON } from './judge-working-set.js';
import type { WorkingSet } from './judge-working-set.js';
import type { WorkingSetRules } from './working-set-rules.js';
import { reclaimOf } from './worth-a-rewrite.js';
import type { Reclaim, TakenAway } from './worth-a-rewrite.js';

/** What a pass found out about the working set of a history. */
export interface OutsideWorkingSet {
  readonly workingSet: WorkingSet;
  /** By row of responses, what may become of it: one of `RESULT_MARK`; `none` where other phases took it. */
  readonly stale: Uint8Array;
  readonly reclaim: Reclaim;
  /** How many responses were marked. */
  readonly marked: number;
}

/**
 * Marks the responses whose payload is to become a placeholder or an excerpt.
 *
 * @param taken what the phases before took away; its `results` get the marks
 */
export function markOutsideWorkingSet(
  index: HistoryIndex,
  rules: WorkingSetRules,
  taken: TakenAway,
): OutsideWorkingSet {
  const workingSet = judgeWorkingSet(index, rules);
  const stale = staleResults(workingSet, taken);
  const reclaim = reclaimOf(index, stale, rules, taken);
  let marked = 0;
  for (let row = reclaim.firstRow; row < stale.length; row += 1) {
    const mark = stale[row] ?? RESULT_MARK.none;
    if (mark === RESULT_MARK.none) continue;
    taken.results[row] = mark;
    marked += 1;
  }
  // The prompt cache is lost from near the start on: what nobody asks for any more costs nothing to take along.
  if (reclaim.isBatch) marked += markForgotten(index, rules, workingSet, taken);
  return { workingSet, stale, reclaim, marked };
}

/**
 * Marks the calls of long ago whose results are gone, or were small outputs: they leave with their responses.
 * Returns how many of these were not marked before.
 */
function markForgotten(
  { calls, responses }: HistoryIndex,
  rules: WorkingSetRules,
  { reason, age }: WorkingSet,
  taken: TakenAway,
): number {
  const lease = callLeaseOf(rules);
  let marked = 0;
  for (let call = 0; call < calls.length; call += 1) {
    const response = calls.response.at(call);
    if (response === NONE || (age[response] ?? 0) <= lease || taken.calls[call] === 1) continue;
    const kind = calls.kind.at(call);
    if (kind !== CALL_KIND.read && !isOutput(kind)) continue;
    const isGoing = taken.results[response] === RESULT_MARK.pointer;
    const isSmall = isOutput(kind) && reason[response] === WORKING_SET_REASON.small;
    if (!isGoing && !isSmall && !isGone(responses.flags.at(response))) continue;
    taken.calls[call] = 1;
    taken.responses[response] = 1;
    taken.results[response] = RESULT_MARK.forgotten;
    if (!isGoing) marked += 1;
  }
  return marked;
}

/** Up to this age calls stay whose results are gone. A younger one may be what keeps a read of its file, or have an excerpt. */
export function callLeaseOf(rules: WorkingSetRules): number {
  const touchLease = Math.max(rules.touchLease, rules.nameLease);
  // Nothing is no number of times as long when there is no end to that.
  const relaxed = touchLease === 0 ? 0 : touchLease * rules.maxRelaxation;
  return Math.max(rules.callLease, rules.excerptLease, relaxed);
}

/** By row of responses, what may become of a result that is still there: one of `RESULT_MARK`. */
export function staleResults({ reason }: WorkingSet, taken: TakenAway): Uint8Array {
  return reason.map((why, row) =>
    taken.responses[row] === 1 || taken.results[row] !== RESULT_MARK.none
      ? RESULT_MARK.none
      : markOf(why),
  );
}

/** What may become of a result with this reason. */
function markOf(reason: number): number {
  if (!isStale(reason)) return RESULT_MARK.none;
  return reason === WORKING_SET_REASON.aged ? RESULT_MARK.excerpt : RESULT_MARK.pointer;
}
