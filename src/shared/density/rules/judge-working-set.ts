// Decides which results the agent still works with, after Denning's working set ("The Working Set
// Model for Program Behavior", CACM 11(5), 1968). Time is counted in model calls.

import { NO_SIGNATURE } from '../index/hash.js';
import {
  CALL_ACCESS,
  CALL_KIND,
  hasPlaceholder,
  NONE,
  readsLines,
  RESPONSE_FLAG,
} from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { WHOLE_FILE } from '../index/command-reading.js';
import type { WorkingSetRules } from './working-set-rules.js';

/**
 * Why a result is inside or outside the working set. The order matters: see `isStale` and `isDue`.
 */
export const WORKING_SET_REASON = {
  /** It answers no known call, or was pruned already. */
  none: 0,
  /** Not sent to the model yet. */
  unsent: 1,
  /** Too small to be worth pruning. */
  small: 2,
  /** Recent. */
  fresh: 3,
  /** Stale from here on. Pruned only along with others. */
  aged: 4,
  /** Due from here on: enough reason for an edit. Older than its kind may get. */
  expired: 5,
  /** The same call was made again. */
  repeated: 6,
  /** The same lines of the file were read again. */
  'read-again': 7,
} as const;

/** The judged results of one history; columns are by response row unless noted. */
export interface WorkingSet {
  /** One of `WORKING_SET_REASON`. */
  readonly reason: Uint8Array;
  /** The call row that superseded it, or `NONE`. */
  readonly by: Int32Array;
  /** How many times the model was sent it, assuming one answer per request. */
  readonly age: Int32Array;
  /** By call row, the estimated tokens of its arguments that are spent. */
  readonly spent: Int32Array;
}

/** A reason and the call row behind it, or `NONE`. */
type Reason = readonly [reason: number, by: number];

function because(name: keyof typeof WORKING_SET_REASON, by: number = NONE): Reason {
  return [WORKING_SET_REASON[name], by];
}

/** About the size of a placeholder. */
const SMALL_TOKENS = 40;
/**
 * A shorter result of an unknown tool may be the record of an action, such as an order number. To get it again, the agent would
 * have to repeat the action. Pages and lists are longer.
 */
export const RECORD_TOKENS = 400;
/** An earlier read is compared with at most this many later reads of its file. */
const MAX_COMPARED = 64;

/** Whether a result with this reason has left the working set. */
export function isStale(reason: number = WORKING_SET_REASON.none): boolean {
  return reason >= WORKING_SET_REASON.aged;
}

/** Whether this reason alone justifies an edit. */
export function isDue(reason: number = WORKING_SET_REASON.none): boolean {
  return reason >= WORKING_SET_REASON.expired;
}

/** The maximum age, in model calls, of a result with this many tokens, by the kind of its call. */
export function maxAgeOf(kind: number, tokens: number, rules: WorkingSetRules): number {
  switch (kind) {
    case CALL_KIND.read:
      return rules.readCalls;
    case CALL_KIND.search:
      return rules.searchCalls;
    case CALL_KIND.command:
      return rules.outputCalls;
    case CALL_KIND.ask:
    case CALL_KIND.instruct:
      return Infinity;
    case CALL_KIND.unknown:
      return tokens < RECORD_TOKENS ? rules.readCalls : rules.otherCalls;
    default:
      return rules.otherCalls;
  }
}

/** Judges every result. Linear in rows. Needs an index with the `workingSet` columns. */
export function judgeWorkingSet(index: HistoryIndex, rules: WorkingSetRules): WorkingSet {
  return new Judge(index, rules).judge();
}

/** Walks the calls from newest to oldest, so everything already visited came later. */
class Judge {
  readonly #index: HistoryIndex;
  readonly #rules: WorkingSetRules;
  /**
   * By path, the last visited read with known lines; by call, the next later such read of that
   * path.
   */
  readonly #linesRead: Int32Array;
  readonly #laterRead: Int32Array;
  /** By path, whether a later call wrote or read the whole file. */
  readonly #isWholeFileLater: Uint8Array;
  /** By signature, the newest successful call. */
  readonly #repeatedBy = new Map<number, number>();

  constructor(index: HistoryIndex, rules: WorkingSetRules) {
    this.#index = index;
    this.#rules = rules;
    this.#linesRead = new Int32Array(index.pathCount).fill(NONE);
    this.#laterRead = new Int32Array(index.calls.length).fill(NONE);
    this.#isWholeFileLater = new Uint8Array(index.pathCount);
  }

  judge(): WorkingSet {
    const { answers, calls, responses } = this.#index;
    const reason = new Uint8Array(responses.length);
    const by = new Int32Array(responses.length).fill(NONE);
    const age = new Int32Array(responses.length).fill(NONE);
    const spent = new Int32Array(calls.length);
    let endPath = calls.paths.length;
    let answer = answers.length - 1;
    for (let call = calls.length - 1; call >= 0; call -= 1) {
      const firstPath = endPath - calls.pathCount.at(call);
      const path = endPath - firstPath === 1 ? calls.paths.at(firstPath) : NONE;
      const lines = readsLines(calls, call) ? path : NONE;
      const entry = calls.entry.at(call);
      while (answers.at(answer) > entry) answer -= 1;
      const response = calls.response.at(call);
      if (response !== NONE) {
        const calledAgo = answers.length - 1 - answer;
        const [why, byCall] = this.#reasonFor(call, response, lines, calledAgo);
        age[response] = calledAgo;
        reason[response] = why;
        by[response] = byCall;
        if (this.#isSpent(call, response, path)) spent[call] = calls.spendable.at(call);
        this.#note(call, lines);
        this.#noteWhole(call, response, path);
      }
      endPath = firstPath;
    }
    return { reason, by, age, spent };
  }

  /** @param path the file, if this is a read of known lines; else `NONE` */
  #reasonFor(call: number, response: number, path: number, age: number): Reason {
    const { calls, responses } = this.#index;
    const flags = responses.flags.at(response);
    if (hasPlaceholder(flags) || (flags & RESPONSE_FLAG.excerpt) !== 0) return because('none');
    if (this.#isUnsent(response)) return because('unsent');
    if (responses.tokens.at(response) < SMALL_TOKENS) return because('small');
    const kind = calls.kind.at(call);
    // Only the user can give an answer, so it stays, even if the same question is asked again.
    if (kind === CALL_KIND.ask) return because('fresh');
    const again = this.#repeatedBy.get(calls.signature.at(call));
    if (again !== undefined) return because('repeated', again);
    const covering = this.#laterReadOfAll(call, path);
    if (covering !== NONE) return because('read-again', covering);
    const time = maxAgeOf(kind, responses.tokens.at(response), this.#rules);
    if (age > time) return because('expired');
    // With `earlyShare` 0 and `time` Infinity, the product is NaN and the result stays fresh.
    return age > this.#rules.earlyShare * time ? because('aged') : because('fresh');
  }

  /** Whether no answer followed the result, which may come long after its call. */
  #isUnsent(response: number): boolean {
    const { answers, responses } = this.#index;
    return answers.at(answers.length - 1) < responses.entry.at(response);
  }

  /**
   * Whether the texts in a write's arguments are of no more use: an edit has replaced the old text,
   * or the content was written or read again. Calls of a parallel group are signed and stay.
   */
  #isSpent(call: number, response: number, path: number): boolean {
    const { calls, responses } = this.#index;
    if (calls.spendable.at(call) === 0 || calls.group.at(call) !== NONE) return false;
    const hasFailed = (responses.flags.at(response) & RESPONSE_FLAG.failed) !== 0;
    if (hasFailed || this.#isUnsent(response)) return false;
    if (calls.access.at(call) !== CALL_ACCESS.writeWhole) return true;
    return this.#isWholeFileLater[path] === 1;
  }

  /** @param path its only file, or `NONE` */
  #noteWhole(call: number, response: number, path: number): void {
    const { calls, responses } = this.#index;
    if (path === NONE || (responses.flags.at(response) & RESPONSE_FLAG.failed) !== 0) return;
    const isWritten = calls.access.at(call) === CALL_ACCESS.writeWhole;
    const isRead =
      readsLines(calls, call) &&
      calls.firstLine.at(call) <= WHOLE_FILE.first &&
      calls.lastLine.at(call) >= WHOLE_FILE.last;
    if (isWritten || (isRead && this.#shows(call))) this.#isWholeFileLater[path] = 1;
  }

  /** Finds a later read that shows all lines of this one. */
  #laterReadOfAll(call: number, path: number): number {
    const { firstLine, lastLine } = this.#index.calls;
    let later = this.#linesRead[path] ?? NONE;
    for (let steps = 0; later !== NONE && steps < MAX_COMPARED; steps += 1) {
      const covers =
        firstLine.at(later) <= firstLine.at(call) && lastLine.at(later) >= lastLine.at(call);
      if (covers && this.#shows(later)) return later;
      later = this.#laterRead[later] ?? NONE;
    }
    return NONE;
  }

  /** Whether the call's result is still in the history in full, and not a failure. */
  #shows(call: number): boolean {
    const { calls, responses } = this.#index;
    const flags = responses.flags.at(calls.response.at(call));
    return !hasPlaceholder(flags) && (flags & (RESPONSE_FLAG.failed | RESPONSE_FLAG.excerpt)) === 0;
  }

  /** @param path the file, if this is a read of known lines; else `NONE` */
  #note(call: number, path: number): void {
    const signature = this.#index.calls.signature.at(call);
    if (signature !== NO_SIGNATURE && !this.#repeatedBy.has(signature) && this.#shows(call)) {
      this.#repeatedBy.set(signature, call);
    }
    if (path === NONE) return;
    this.#laterRead[call] = this.#linesRead[path] ?? NONE;
    this.#linesRead[path] = call;
  }
}
