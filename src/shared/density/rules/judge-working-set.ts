// Which results the agent still works with. After Denning's working set ("The Working Set Model for Program
// Behavior", CACM 11(5), 1968): what was not referenced for some time leaves, and here time is counted in model calls.

import { NO_SIGNATURE } from '../index/call-signature.js';
import {
  CALL_KIND,
  isGone,
  isOutput,
  NONE,
  readsLines,
  RESPONSE_FLAG,
} from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { WorkingSetRules } from './working-set-rules.js';

/** Why a result stays in the working set, or has left it. */
export const WORKING_SET_REASON = {
  /** No call is known that it answers, or it is gone already. */
  none: 0,
  /** The model was not sent it yet. */
  unsent: 1,
  /** Too small to be worth it. */
  small: 2,
  /** It came only lately. */
  fresh: 3,
  /** Its file was touched lately. */
  touched: 4,
  /** Stale from here on. It is large and no longer new: an excerpt does. */
  aged: 5,
  /** Its time is over. */
  expired: 6,
  /** The same call was made again. */
  repeated: 7,
  /** The same lines of the file were read again. */
  readAgain: 8,
} as const;

/** What is known of the results of one history. All columns are by row of its responses. */
export interface WorkingSet {
  /** One of `WORKING_SET_REASON`. */
  readonly reason: Uint8Array;
  /** The row of the call that renewed or superseded it, or `NONE`. */
  readonly by: Int32Array;
  /** How many times the model was sent it, if every answer was to a request. */
  readonly age: Int32Array;
  /** Leases of reads are so many times as long as the rules say. */
  readonly relaxation: number;
  /** By call, how many answers came after the one that it stands in. */
  readonly callAges: Int32Array;
  /** What it was judged by; kept when that will be asked for. */
  readonly leases?: Leases | undefined;
}

/** In whole calls, as ages are; by row of responses. */
export interface Leases {
  /** So old a result may get, for its reason or at all. */
  readonly lease: Float64Array;
  /** So old the call may get that touched its file. */
  readonly touchLease: Float64Array;
}

/** A reason, and the call that it comes from or `NONE`. */
type Reason = readonly [reason: number, by: number];

/** So many later reads of a file are compared with an earlier one. */
const MAX_COMPARED = 64;

/** Whether a result with this reason has left the working set. */
export function isStale(reason: number): boolean {
  return reason >= WORKING_SET_REASON.aged;
}

/** Up to this age the result of a call of this kind stays as it is, whatever comes after it. */
function leaseOf(kind: number, rules: WorkingSetRules, relaxation: number): number {
  const { readLease, searchLease, outputLease } = rules;
  if (kind === CALL_KIND.search) return searchLease;
  if (kind === CALL_KIND.command || kind === CALL_KIND.write) return outputLease;
  return readLease * relaxation;
}

/**
 * Judges every result. Linear in rows. The index notes what a working set is chosen by.
 *
 * @param keepsLeases whether it will be asked what they were judged by
 */
export function judgeWorkingSet(
  index: HistoryIndex,
  rules: WorkingSetRules,
  keepsLeases: boolean = false,
): WorkingSet {
  return new Judge(index, rules).judge(keepsLeases);
}

/** Walks the calls from the newest to the oldest: what it has seen came later. */
class Judge {
  readonly #index: HistoryIndex;
  readonly #rules: WorkingSetRules;
  readonly #relaxation: number;
  readonly #ages: Int32Array;
  /** By path, the newest call that names it, the newest that writes it, and the newest that does not read a range of it. */
  readonly #touchedBy: Int32Array;
  readonly #writtenBy: Int32Array;
  readonly #namedBy: Int32Array;
  /** By path, the read of a range that was seen last; by call, the next later one of the same path. */
  readonly #rangeRead: Int32Array;
  readonly #laterRead: Int32Array;
  /** By signature, the newest call that succeeded. */
  readonly #repeatedBy = new Map<number, number>();
  /** What the result was judged by that was judged last. */
  #lease = 0;
  #touchLease = 0;

  constructor(index: HistoryIndex, rules: WorkingSetRules) {
    const { calls, pathCount } = index;
    this.#index = index;
    this.#rules = rules;
    this.#relaxation = relaxationOf(index, rules);
    this.#ages = agesOf(index);
    this.#touchedBy = new Int32Array(pathCount).fill(NONE);
    this.#writtenBy = new Int32Array(pathCount).fill(NONE);
    this.#namedBy = new Int32Array(pathCount).fill(NONE);
    this.#rangeRead = new Int32Array(pathCount).fill(NONE);
    this.#laterRead = new Int32Array(calls.length).fill(NONE);
  }

  judge(keepsLeases: boolean): WorkingSet {
    const { calls, responses } = this.#index;
    const reason = new Uint8Array(responses.length);
    const by = new Int32Array(responses.length).fill(NONE);
    const age = new Int32Array(responses.length).fill(NONE);
    const leases = keepsLeases
      ? {
          lease: new Float64Array(responses.length),
          touchLease: new Float64Array(responses.length),
        }
      : undefined;
    let endPath = calls.paths.length;
    for (let call = calls.length - 1; call >= 0; call -= 1) {
      const firstPath = endPath - calls.pathCount.at(call);
      const response = calls.response.at(call);
      if (response !== NONE) {
        age[response] = this.#ages[call] ?? 0;
        const [why, byCall] = this.#reasonFor(call, response, firstPath, endPath);
        reason[response] = why;
        by[response] = byCall;
        if (leases !== undefined) {
          leases.lease[response] = this.#lease;
          leases.touchLease[response] = Math.floor(this.#touchLease);
        }
      }
      this.#note(call, response, firstPath, endPath);
      endPath = firstPath;
    }
    return { reason, by, age, relaxation: this.#relaxation, callAges: this.#ages, leases };
  }

  #reasonFor(call: number, response: number, firstPath: number, endPath: number): Reason {
    const { calls, responses } = this.#index;
    if (isGone(responses.flags.at(response))) return NO_REASON;
    const age = this.#ages[call] ?? 0;
    const kind = calls.kind.at(call);
    this.#lease = Math.floor(leaseOf(kind, this.#rules, this.#relaxation));
    if (this.#isUnsent(response)) return UNSENT;
    if (responses.tokens.at(response) < this.#rules.minTokens) return SMALL;
    const again = this.#repeatedBy.get(calls.signature.at(call));
    if (again !== undefined) return [WORKING_SET_REASON.repeated, again];
    const path = endPath - firstPath === 1 ? calls.paths.at(firstPath) : NONE;
    const isRange = path !== NONE && readsLines(calls, call);
    const covering = isRange ? this.#covering(call, path) : NONE;
    if (covering !== NONE) return [WORKING_SET_REASON.readAgain, covering];
    if (age <= this.#lease) return FRESH;
    if (isOutput(kind)) return this.#output(response, age);
    if (kind !== CALL_KIND.read) return EXPIRED;
    const touching = isRange ? this.#touchingRange(call, path) : this.#touching(firstPath, endPath);
    return touching === NONE ? EXPIRED : [WORKING_SET_REASON.touched, touching];
  }

  /** Whether the model has said nothing since; a result may come long after its call. */
  #isUnsent(response: number): boolean {
    const { answers, responses } = this.#index;
    return answers.at(answers.length - 1) < responses.entry.at(response);
  }

  /** Of an output that need not stay whole. */
  #output(response: number, age: number): Reason {
    const { excerptLease } = this.#rules;
    if (age > excerptLease) {
      this.#lease = Math.max(this.#lease, excerptLease);
      return EXPIRED;
    }
    const { tokens, flags } = this.#index.responses;
    const isSmall = tokens.at(response) < this.#rules.excerptTokens;
    const isText = (flags.at(response) & RESPONSE_FLAG.text) !== 0;
    if (!isSmall && isText) return AGED;
    this.#lease = excerptLease;
    return FRESH;
  }

  /** A later read that shows all the lines of this one. */
  #covering(call: number, path: number): number {
    const { firstLine, lastLine } = this.#index.calls;
    let later = this.#rangeRead[path] ?? NONE;
    for (let steps = 0; later !== NONE && steps < MAX_COMPARED; steps += 1) {
      const covers =
        firstLine.at(later) <= firstLine.at(call) && lastLine.at(later) >= lastLine.at(call);
      if (covers && this.#shows(later)) return later;
      later = this.#laterRead[later] ?? NONE;
    }
    return NONE;
  }

  /** The newest write of the file, or a read of a range that overlaps this one, if it is recent. */
  #touchingRange(call: number, path: number): number {
    const written = this.#writtenBy[path] ?? NONE;
    if (this.#isRecent(written)) return written;
    const named = this.#namedBy[path] ?? NONE;
    if (this.#isRecent(named, this.#rules.nameLease)) return named;
    const { firstLine, lastLine } = this.#index.calls;
    let later = this.#rangeRead[path] ?? NONE;
    for (let steps = 0; later !== NONE && steps < MAX_COMPARED; steps += 1) {
      const overlaps =
        firstLine.at(later) <= lastLine.at(call) && lastLine.at(later) >= firstLine.at(call);
      if (overlaps && this.#isRecent(later)) return later;
      later = this.#laterRead[later] ?? NONE;
    }
    return NONE;
  }

  #touching(firstPath: number, endPath: number): number {
    const { paths } = this.#index.calls;
    for (let at = firstPath; at < endPath; at += 1) {
      const touched = this.#touchedBy[paths.at(at)] ?? NONE;
      if (this.#isRecent(touched)) return touched;
    }
    return NONE;
  }

  #isRecent(call: number, lease: number = this.#rules.touchLease): boolean {
    this.#touchLease = lease * this.#relaxation;
    return call !== NONE && (this.#ages[call] ?? 0) <= this.#touchLease;
  }

  /** Whether the result of a call is here, and no failure. */
  #shows(call: number): boolean {
    const { calls, responses } = this.#index;
    const response = calls.response.at(call);
    if (response === NONE) return false;
    const flags = responses.flags.at(response);
    return !isGone(flags) && (flags & RESPONSE_FLAG.failed) === 0;
  }

  #note(call: number, response: number, firstPath: number, endPath: number): void {
    const { calls } = this.#index;
    const kind = calls.kind.at(call);
    const isRange = readsLines(calls, call);
    const signature = calls.signature.at(call);
    if (signature !== NO_SIGNATURE && !this.#repeatedBy.has(signature) && this.#shows(call)) {
      this.#repeatedBy.set(signature, call);
    }
    for (let at = firstPath; at < endPath; at += 1) {
      const path = calls.paths.at(at);
      if (this.#touchedBy[path] === NONE) this.#touchedBy[path] = call;
      if (!isRange && this.#namedBy[path] === NONE) this.#namedBy[path] = call;
      if (kind === CALL_KIND.write && this.#writtenBy[path] === NONE) this.#writtenBy[path] = call;
    }
    if (!isRange || response === NONE || endPath - firstPath !== 1) return;
    const path = calls.paths.at(firstPath);
    this.#laterRead[call] = this.#rangeRead[path] ?? NONE;
    this.#rangeRead[path] = call;
  }
}

const NO_REASON: Reason = [WORKING_SET_REASON.none, NONE];
const UNSENT: Reason = [WORKING_SET_REASON.unsent, NONE];
const SMALL: Reason = [WORKING_SET_REASON.small, NONE];
const FRESH: Reason = [WORKING_SET_REASON.fresh, NONE];
const AGED: Reason = [WORKING_SET_REASON.aged, NONE];
const EXPIRED: Reason = [WORKING_SET_REASON.expired, NONE];

/** Reads alone count: the rest is gone soon. */
function relaxationOf({ calls, responses }: HistoryIndex, rules: WorkingSetRules): number {
  let live = 0;
  for (let call = 0; call < calls.length; call += 1) {
    const response = calls.response.at(call);
    if (response === NONE || calls.kind.at(call) !== CALL_KIND.read) continue;
    live += responses.tokens.at(response);
  }
  const longer = Math.max(1, rules.relaxedTokens / Math.max(1, live));
  // Finite, so that a lease of nothing stays nothing.
  return Math.min(rules.maxRelaxation, longer, Number.MAX_VALUE);
}

/** By call, how many answers came after the one that it stands in. */
function agesOf({ calls, answers }: HistoryIndex): Int32Array {
  const ages = new Int32Array(calls.length);
  let answer = answers.length - 1;
  for (let call = calls.length - 1; call >= 0; call -= 1) {
    const entry = calls.entry.at(call);
    while (answer >= 0 && answers.at(answer) > entry) answer -= 1;
    ages[call] = answers.length - 1 - answer;
  }
  return ages;
}
