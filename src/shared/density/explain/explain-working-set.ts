// The facts behind what the working set says of a result: ages, leases and the calls that they count from. Judges
// nothing; what is stale, and what leaves, has been decided.

import type { WorkingSetFinding, WorkingSetReason } from './explanation.js';
import { CALL_KIND, isOutput, NONE, readsLines, RESULT_MARK } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { HistoryMarks } from '../rules/mark-history.js';
import { callLeaseOf } from '../rules/working-set.js';
import type { OutsideWorkingSet } from '../rules/working-set.js';
import { agesOf, leaseOf, WORKING_SET_REASON } from '../rules/judge-working-set.js';
import type { WorkingSetRules } from '../rules/working-set-rules.js';

/** A finding that names a call by its row, or `NONE`. */
export type WorkingSetFacts = Omit<WorkingSetFinding, 'by'> & { readonly by: number };

const REASON_NAMES: Readonly<Record<number, WorkingSetReason>> = {
  [WORKING_SET_REASON.unsent]: 'unsent',
  [WORKING_SET_REASON.small]: 'small',
  [WORKING_SET_REASON.fresh]: 'fresh',
  [WORKING_SET_REASON.touched]: 'touched',
  [WORKING_SET_REASON.aged]: 'aged',
  [WORKING_SET_REASON.expired]: 'expired',
  [WORKING_SET_REASON.repeated]: 'repeated',
  [WORKING_SET_REASON.readAgain]: 'read-again',
};

/** Explains the working set of one history. */
export class WorkingSetExplainer {
  readonly #index: HistoryIndex;
  readonly #rules: WorkingSetRules;
  readonly #outside: OutsideWorkingSet;
  readonly #results: Uint8Array;
  /** By call, how many answers came after the one that it stands in. */
  readonly #ages: Int32Array;

  constructor(
    index: HistoryIndex,
    rules: WorkingSetRules,
    { results }: HistoryMarks,
    outside: OutsideWorkingSet,
  ) {
    this.#index = index;
    this.#rules = rules;
    this.#results = results;
    this.#outside = outside;
    this.#ages = agesOf(index);
  }

  /** Returns what is known of a response and the call that it answers; `undefined` when it was not judged. */
  factsOf(response: number, call: number): WorkingSetFacts | undefined {
    const { workingSet, stale, reclaim } = this.#outside;
    const reason = this.#reasonOf(response);
    if (reason === undefined) return undefined;
    const age = workingSet.age[response] ?? 0;
    const by = reason === 'forgotten' ? NONE : (workingSet.by[response] ?? NONE);
    return {
      rule: 'working-set',
      reason,
      isWaiting:
        stale[response] !== RESULT_MARK.none && this.#results[response] === RESULT_MARK.none,
      age,
      lease: this.#leaseFor(reason, call, age),
      relaxation: workingSet.relaxation,
      tokens: this.#index.responses.tokens.at(response),
      by,
      touch:
        reason === 'touched'
          ? { age: this.#ages[by] ?? 0, lease: this.#touchLeaseOf(call, by) }
          : null,
      staleTokens: reclaim.staleTokens,
      // An endless share of nothing is no number, and never reached.
      neededTokens: Number.isNaN(reclaim.neededTokens) ? Infinity : reclaim.neededTokens,
    };
  }

  #reasonOf(response: number): WorkingSetReason | undefined {
    if (this.#results[response] === RESULT_MARK.forgotten) return 'forgotten';
    return REASON_NAMES[this.#outside.workingSet.reason[response] ?? WORKING_SET_REASON.none];
  }

  /** In whole calls, as ages are. Outputs that need no excerpt, and excerpts, outlast the lease that they stay whole for. */
  #leaseFor(reason: WorkingSetReason, call: number, age: number): number {
    if (reason === 'forgotten') return Math.floor(callLeaseOf(this.#rules));
    const kind = this.#index.calls.kind.at(call);
    const { excerptLease } = this.#rules;
    const lease = Math.floor(leaseOf(kind, this.#rules, this.#outside.workingSet.relaxation));
    if (!isOutput(kind)) return lease;
    if (reason === 'expired') return Math.max(lease, excerptLease);
    return reason === 'fresh' && age > lease ? excerptLease : lease;
  }

  /** How old a later call may get that touched the file of a read. */
  #touchLeaseOf(call: number, by: number): number {
    const { relaxation } = this.#outside.workingSet;
    const touchLease = Math.floor(this.#rules.touchLease * relaxation);
    const { calls } = this.#index;
    if (!readsLines(calls, call) || readsLines(calls, by)) return touchLease;
    // A write counts for what it changes, and then as long as any other call that names the file.
    const isWrite = calls.kind.at(by) === CALL_KIND.write;
    if (isWrite && (this.#ages[by] ?? 0) <= touchLease) return touchLease;
    return Math.floor(this.#rules.nameLease * relaxation);
  }
}
