// The rule `working-set`: results that the agent no longer works with leave the history when that is worth it, and
// calls of long ago with what is left of theirs.

import { CALL_KIND, isGone, isOutput, NONE } from '../index/history-columns.js';
import type { CallPlace } from '../explain/explanation.js';
import type { DensityRule, RulePass } from './density-rule.js';
import { isStale, judgeWorkingSet, WORKING_SET_REASON } from './judge-working-set.js';
import type { WorkingSet } from './judge-working-set.js';
import { ACTION, actionOf, isLeaving, markOf, ruleOf } from './marks.js';
import type { Marks } from './marks.js';
import { sayWorkingSet } from './say-working-set.js';
import { AGGRESSIVE_WORKING_SET, DEFAULT_WORKING_SET } from './working-set-rules.js';
import type { WorkingSetRules } from './working-set-rules.js';
import { reclaimOf } from './worth-a-rewrite.js';

/** Why a result stays in the working set, or has left it: see `WorkingSetFinding`. */
export type WorkingSetReason =
  | 'unsent'
  | 'small'
  | 'fresh'
  | 'touched'
  | 'aged'
  | 'expired'
  | 'repeated'
  | 'read-again'
  | 'forgotten';

/**
 * Of a result, or a call that goes with it, by what the agent has done since. In the working set: `unsent`, the model was not sent it yet; `small`; `fresh`, it
 * came lately; `touched`, its file was touched lately. Outside it: `aged`, a long output is no longer new, and an
 * excerpt does; `expired`, its time is over; `repeated`, the same call was made again; `read-again`, the same lines were
 * read again; `forgotten`, a call of long ago goes with what is left of its result. What is outside leaves when that
 * is worth an edit. Ages and leases are in model calls.
 */
export interface WorkingSetFinding {
  readonly rule: 'working-set';
  readonly reason: WorkingSetReason;
  /** Whether it has left the working set, and only waits for an edit to be worth a rewrite of the prompt cache. */
  readonly isWaiting: boolean;
  /** How many times the model was sent the result. */
  readonly age: number;
  /** So old it may get, for this reason or at all. Leases of reads are `relaxation` times as long as the rules say. */
  readonly lease: number;
  /** At least 1. */
  readonly relaxation: number;
  /** About how many tokens the result has; 0 for a placeholder. */
  readonly tokens: number;
  /** The call that touched its file, repeated it or read the same lines; `null` for the other reasons. */
  readonly by: CallPlace | null;
  /** How old that call is, and may get for its touch to count; `null` for all reasons but `touched`. */
  readonly touch: { readonly age: number; readonly lease: number } | null;
  /** What all results outside the working set give back together. Estimated tokens. */
  readonly staleTokens: number;
  /** What they have to, for those to leave that stand far ahead of the end. Estimated tokens. */
  readonly neededTokens: number;
}

/** The values of the setting `compression.density.workingSet`. */
export const WORKING_SET_CHOICES = ['preset', 'off', 'default', 'aggressive'] as const;

export type WorkingSetChoice = (typeof WORKING_SET_CHOICES)[number];

/**
 * Returns the rules of a choice; `undefined` is no working set.
 *
 * @param preset the rules that a session was created with
 */
export function workingSetOf(
  choice: WorkingSetChoice,
  preset: WorkingSetRules | undefined,
): WorkingSetRules | undefined {
  switch (choice) {
    case 'preset':
      return preset;
    case 'off':
      return undefined;
    case 'default':
      return DEFAULT_WORKING_SET;
    case 'aggressive':
      return AGGRESSIVE_WORKING_SET;
  }
}

/** Takes away results that left the working set. */
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
      valueOf: (choice: WorkingSetChoice, preset: WorkingSetRules | undefined) =>
        workingSetOf(choice, preset),
    },
  ],
  reads: ['calls', 'workingSet'],
  isOn: ({ workingSet }) => workingSet !== undefined,
  mark: (pass) => {
    const { index, marks, mark, isExplained, settings } = pass;
    const { workingSet: rules } = settings;
    if (rules === undefined) return {};
    const workingSet = judgeWorkingSet(index, rules, isExplained);
    const { age, by, callAges, leases, reason, relaxation } = workingSet;
    const stale = staleResults(workingSet, marks);
    const { firstRow, isBatch, staleTokens, neededTokens } = reclaimOf(index, stale, rules, marks);
    for (let row = firstRow; row < stale.length; row += 1) {
      const action = stale[row] ?? ACTION.none;
      if (action !== ACTION.none) marks.responses[row] = mark(action);
    }
    // The prompt cache is lost from near the start on: what nobody asks for any more costs nothing to take along.
    if (isBatch) markForgotten(pass, rules, workingSet);
    return {
      ofResponse: (row, _, { callAt }) => {
        const isForgotten = isLeaving(marks.responses[row]);
        const name = isForgotten ? 'forgotten' : REASON_NAMES[reason[row] ?? 0];
        if (name === undefined) return undefined;
        const renewedBy = by[row] ?? NONE;
        return {
          rule: 'working-set',
          reason: name,
          isWaiting: stale[row] !== ACTION.none && marks.responses[row] === 0,
          age: age[row] ?? 0,
          lease: isForgotten ? Math.floor(callLeaseOf(rules)) : (leases?.lease[row] ?? 0),
          relaxation,
          tokens: index.responses.tokens.at(row),
          by: isForgotten ? null : callAt(renewedBy),
          touch:
            name === 'touched'
              ? { age: callAges[renewedBy] ?? 0, lease: leases?.touchLease[row] ?? 0 }
              : null,
          staleTokens,
          // An infinite share of no tokens is NaN, and never reached.
          neededTokens: Number.isNaN(neededTokens) ? Infinity : neededTokens,
        };
      },
    };
  },
  say: sayWorkingSet,
};

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

/** Marks the calls of long ago whose results are gone, or were small outputs: they leave with their responses. */
function markForgotten(
  { index: { calls, responses }, marks, mark }: RulePass,
  rules: WorkingSetRules,
  { reason, age }: WorkingSet,
): void {
  const lease = callLeaseOf(rules);
  const [dropped, companion] = [mark(ACTION.drop), mark(ACTION.companion)];
  for (let call = 0; call < calls.length; call += 1) {
    const response = calls.response.at(call);
    if (response === NONE || (age[response] ?? 0) <= lease || marks.calls[call] !== 0) continue;
    const kind = calls.kind.at(call);
    if (kind !== CALL_KIND.read && !isOutput(kind)) continue;
    const before = marks.responses[response] ?? 0;
    const isGoing = actionOf(before) === ACTION.pointer;
    const isSmall = isOutput(kind) && reason[response] === WORKING_SET_REASON.small;
    if (!isGoing && !isSmall && !isGone(responses.flags.at(response))) continue;
    marks.calls[call] = companion;
    // Whoever took it first has it counted.
    const isCounted = before !== 0 && ruleOf(before) !== ruleOf(dropped);
    if (isCounted) marks.ceded.set(response, markOf(ACTION.ceded, ruleOf(before)));
    marks.responses[response] = isCounted ? companion : dropped;
  }
}

/** Up to this age calls stay whose results are gone. A younger one may be what keeps a read of its file, or have an excerpt. */
function callLeaseOf(rules: WorkingSetRules): number {
  const touchLease = Math.max(rules.touchLease, rules.nameLease);
  // 0 × Infinity is NaN.
  const relaxed = touchLease === 0 ? 0 : touchLease * rules.maxRelaxation;
  return Math.max(rules.callLease, rules.excerptLease, relaxed);
}

/** By row of responses, what may become of a result that no other rule took: one of `ACTION`. */
function staleResults({ reason }: WorkingSet, { responses }: Marks): Uint8Array {
  return reason.map((why, row) => (responses[row] === 0 ? actionFor(why) : ACTION.none));
}

/** What may become of a result with this reason. */
function actionFor(reason: number): number {
  if (!isStale(reason)) return ACTION.none;
  return reason === WORKING_SET_REASON.aged ? ACTION.excerpt : ACTION.pointer;
}
