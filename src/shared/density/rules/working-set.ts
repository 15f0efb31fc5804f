// The rule `working-set`: prunes results that the agent no longer works with, once that pays. Their
// calls stay and show what can be read again.

import { REMOVED_POINTER } from '../../density.js';
import { CALL_KIND, NONE, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { CallPlace, ExplainedSubject } from './finding.js';
import type { DensityRule } from './density-rule.js';
import { isStale, judgeWorkingSet, maxAgeOf, WORKING_SET_REASON } from './judge-working-set.js';
import type { WorkingSet } from './judge-working-set.js';
import { ACTION } from './marks.js';
import type { Marks } from './marks.js';
import { AGGRESSIVE_WORKING_SET, DEFAULT_WORKING_SET } from './working-set-rules.js';
import type { WorkingSetRules } from './working-set-rules.js';
import { reclaimOf } from './rewrite-price.js';
import { count, nameOfCall, numberOf, times } from './words.js';

/** Why a result is inside or outside the working set; see `WorkingSetFinding`. */
export type WorkingSetReason =
  'unsent' | 'small' | 'fresh' | 'aged' | 'expired' | 'repeated' | 'read-again' | 'spent';

/**
 * Finding on a result, or on the arguments of a call. Inside the working set: `unsent`, not sent to
 * the model yet; `small`; `fresh`, recent, or referred to by a result that was shrunk. Outside:
 * `aged`, pruned along with others; `expired`, older than its kind may get; `repeated`, the same
 * call was made again; `read-again`, the same lines were read again; `spent`, texts in the
 * arguments are no longer in the file, or were written or read again. All but `aged` are pruned
 * once that is worth an edit. Ages are in model calls.
 */
export interface WorkingSetFinding {
  readonly rule: 'working-set';
  readonly reason: WorkingSetReason;
  /** Outside the working set, but kept until an edit is worth rewriting the prompt cache. */
  readonly isWaiting: boolean;
  /** How many times the model was sent the result. */
  readonly age: number;
  /** The age up to which it stays. */
  readonly time: number;
  /** Estimated tokens of the result (0 for a placeholder), or of the spent texts of a call. */
  readonly tokens: number;
  /** The call that repeated it or read the same lines; else `null`. */
  readonly by: CallPlace | null;
  /** Estimated tokens that all waiting, due results would save together. */
  readonly waitingTokens: number;
  /** What they must save to be pruned; infinite while all results together have few tokens. */
  readonly neededTokens: number;
}

/** The values of the setting `compression.density.workingSet`. */
export const WORKING_SET_CHOICES = ['preset', 'off', 'default', 'aggressive'] as const;

export type WorkingSetChoice = (typeof WORKING_SET_CHOICES)[number];

/**
 * Resolves a choice; `undefined` means no working set.
 *
 * @param preset the rules that the session was created with
 */
export function workingSetOf(
  choice: WorkingSetChoice,
  preset: WorkingSetRules | undefined,
): WorkingSetRules | undefined {
  const rules = {
    preset,
    off: undefined,
    default: DEFAULT_WORKING_SET,
    aggressive: AGGRESSIVE_WORKING_SET,
  };
  return rules[choice];
}

/** Prunes results that left the working set. */
export const WORKING_SET: DensityRule<WorkingSetFinding> = {
  name: 'working-set',
  item: 'unused result',
  counter: 'workingSetPruned',
  settings: [
    {
      field: 'workingSet',
      description: 'By which rules results leave that the agent no longer works with',
      type: 'enum',
      enumValues: WORKING_SET_CHOICES,
      valueOf: workingSetOf,
    },
  ],
  reads: ['workingSet'],
  pointer: REMOVED_POINTER,
  mark: ({ index, marks, mark, settings }) => {
    const { workingSet: rules } = settings;
    if (rules === undefined) return {};
    const workingSet = judgeWorkingSet(index, rules);
    const { age, by, reason, spent } = workingSet;
    keepReferred(marks, workingSet);
    const { calls, responses } = index;
    const reclaim = reclaimOf(index, workingSet, rules, marks);
    const { firstEntry, waitingTokens, neededTokens } = reclaim;
    for (let row = reason.length - 1; row >= 0; row -= 1) {
      if (responses.entry.at(row) < firstEntry) break;
      if (!isStale(reason[row]) || marks.responses[row] !== 0) continue;
      const isLong = (responses.flags.at(row) & RESPONSE_FLAG.text) !== 0;
      // A newer result that refers to this one leaves out the lines they share, so it does not show them.
      const isShown = isShownBy(by[row] ?? NONE, calls) && !marks.referredBy.has(row);
      marks.responses[row] = mark(isLong && !isShown ? ACTION.excerpt : ACTION.pointer);
    }
    for (let call = calls.length - 1; call >= 0; call -= 1) {
      if (calls.entry.at(call) < firstEntry) break;
      if ((spent[call] ?? 0) > 0 && marks.calls[call] === 0)
        marks.calls[call] = mark(ACTION.shorten);
    }
    // NaN (0 / 0) if nothing has to be rewritten and no edit ever pays: then it is never reached.
    const waits = {
      waitingTokens,
      neededTokens: Number.isNaN(neededTokens) ? Infinity : neededTokens,
    };
    return {
      ofCall: (call) => {
        const tokens = spent[call] ?? 0;
        if (tokens === 0) return undefined;
        const isWaiting = marks.calls[call] === 0;
        const ofResult = age[calls.response.at(call)] ?? 0;
        const found = { rule: 'working-set', reason: 'spent', isWaiting, tokens } as const;
        return { ...found, age: ofResult, time: 0, by: null, ...waits };
      },
      ofResponse: (row, call, { callAt }) => {
        const name = REASON_NAMES[reason[row] ?? 0] ?? 'none';
        if (name === 'none') return undefined;
        return {
          rule: 'working-set',
          reason: name,
          isWaiting: isStale(reason[row]) && marks.responses[row] === 0,
          age: age[row] ?? 0,
          time: maxAgeOf(calls.kind.at(call), responses.tokens.at(row), rules),
          tokens: responses.tokens.at(row),
          by: callAt(by[row] ?? NONE),
          ...waits,
        };
      },
    };
  },
  say: sayWorkingSet,
};

/**
 * Whether a newer result shows the same content, so that no excerpt is needed. Not assumed for an
 * unknown tool, whose answer may have changed.
 *
 * @param newer row of the newer call, or `NONE`
 */
function isShownBy(newer: number, { kind }: HistoryIndex['calls']): boolean {
  return newer !== NONE && kind.at(newer) !== CALL_KIND.unknown;
}

/** A result too small to prune keeps the results that it refers to until it was sent this many times. */
const REFERENCE_TIME = 20;

/**
 * Keeps results that others refer to, as long as the referring results stay. One that is too small to
 * prune would keep them forever, so it does for `REFERENCE_TIME` only.
 */
function keepReferred({ referredBy }: Marks, { reason, age }: WorkingSet): void {
  const { none, small, fresh } = WORKING_SET_REASON;
  const isUsed = (row: number): boolean => {
    const [why, times] = [reason[row] ?? none, age[row] ?? NONE];
    if (why === none || why === small) return times >= 0 && times <= REFERENCE_TIME;
    return !isStale(why);
  };
  // Newest first, because a result that is kept in turn keeps those that it refers to.
  for (const [row, by] of [...referredBy].sort(([a], [b]) => b - a)) {
    if (by.some(isUsed)) reason[row] = fresh;
  }
}

/** By number of the reason. */
const REASON_NAMES = Object.keys(WORKING_SET_REASON) as (keyof typeof WORKING_SET_REASON)[];

export function sayWorkingSet(finding: WorkingSetFinding, { verdict }: ExplainedSubject): string {
  const { isWaiting, waitingTokens, neededTokens } = finding;
  const reason = reasonText(finding);
  if (isWaiting && finding.reason === 'aged') return reason;
  if (isWaiting && neededTokens === Infinity)
    return `${reason} It is not pruned yet: all results together have few tokens.`;
  if (isWaiting) {
    return (
      `${reason} It is not pruned yet: it and similar results would save ${count(waitingTokens)} tokens, ` +
      `and rewriting the prompt cache pays from ${count(neededTokens)} on.`
    );
  }
  if (verdict !== 'excerpt' && verdict !== 'placeholder') return reason;
  return `${reason} ${verdict === 'excerpt' ? 'An excerpt' : 'A placeholder'} replaces it.`;
}

function reasonText({ reason, age, time, tokens, by }: WorkingSetFinding): string {
  const lease = `sent ${times(age)}, kept for ${numberOf(time, 'model call')}`;
  switch (reason) {
    case 'unsent':
      return 'It was not sent to the model yet.';
    case 'small':
      return `It has only ${numberOf(tokens, 'token')}.`;
    case 'fresh':
      if (age > time) return `A later result was shrunk and refers to it: ${lease} otherwise.`;
      if (time === Infinity) return 'It is in the working set, and stays.';
      return `It is in the working set: ${lease}.`;
    case 'aged':
      return `It is old enough to be pruned with others: ${lease} otherwise.`;
    case 'expired':
      return `It has left the working set: ${lease}.`;
    case 'repeated':
      return `The same call was made again: ${nameOfCall(by)}.`;
    case 'spent':
      return `Its arguments have ${numberOf(tokens, 'token')} of text that is no longer in the file, or was written or read again.`;
    case 'read-again':
      return `The same lines were read again by ${nameOfCall(by)}.`;
  }
}
