// When it is worth it to take stale results away: every edit makes the provider read anew what stands behind
// it, so that results leave in steps. Pure arithmetic over an index's columns; decides nothing about what is stale.

import { EXCERPT_TOKENS } from '../index/excerpt.js';
import { isGone, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { ACTION, actionOf, isLeaving } from './marks.js';
import type { Marks } from './marks.js';
import type { WorkingSetRules } from './working-set-rules.js';

/** About what a placeholder has. */
const PLACEHOLDER_TOKENS = 16;

/** About what a call has, with its share of the answer that it stands in: the median of recorded sessions. */
const CALL_TOKENS = 100;

/** What other rules of a pass take away. */
export type TakenAway = Pick<Marks, 'calls' | 'responses'>;

/** What stale results come to. Tokens are estimates. */
export interface Reclaim {
  /** Whether all stale results leave. */
  readonly isBatch: boolean;
  /** The first row of a response from which on stale ones leave; the number of rows when none does. */
  readonly firstRow: number;
  /** What all stale results would give back. */
  readonly staleTokens: number;
  /** What has to come together for all of them to leave. */
  readonly neededTokens: number;
}

/**
 * Decides which of the stale results leave now: all of them when they give back enough, else those near the end.
 * What stands behind a place is taken as it will be after the pass, so that a second one finds nothing more.
 *
 * @param stale by row of responses, one of `ACTION` for what may become of it; `none` where it was taken away
 */
export function reclaimOf(
  index: HistoryIndex,
  stale: Uint8Array,
  rules: WorkingSetRules,
  taken: TakenAway,
): Reclaim {
  const { responses } = index;
  let staleTokens = 0;
  let keptTokens = 0;
  for (let row = 0; row < responses.length; row += 1) {
    const tokens = responses.tokens.at(row);
    if (stale[row] !== ACTION.none) staleTokens += gainOf(tokens, stale[row], rules);
    else if (isKept(row, taken)) keptTokens += tokens;
  }
  const neededTokens = Math.max(rules.minReclaimTokens, rules.minReclaimShare * keptTokens);
  const isBatch = staleTokens >= neededTokens;
  const firstRow = isBatch ? 0 : firstRowNearEnd(index, stale, rules, taken);
  return { isBatch, firstRow, staleTokens, neededTokens };
}

function firstRowNearEnd(
  index: HistoryIndex,
  stale: Uint8Array,
  rules: WorkingSetRules,
  taken: TakenAway,
): number {
  const { calls, responses } = index;
  let firstRow = responses.length;
  let behind = 0;
  let gain = 0;
  let call = calls.length - 1;
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    const entry = responses.entry.at(row);
    for (; call >= 0 && calls.entry.at(call) > entry; call -= 1) {
      if (taken.calls[call] === 0) behind += CALL_TOKENS;
    }
    if (behind > rules.tailTokens) break;
    behind += tokensAfter(index, row, stale[row], taken);
    if (stale[row] === ACTION.none) continue;
    gain += gainOf(responses.tokens.at(row), stale[row], rules);
    if (gain >= Math.max(rules.minTailReclaim, rules.minTailShare * behind)) firstRow = row;
  }
  return firstRow;
}

/** Whether the other rules leave a result alone. */
function isKept(row: number, { responses }: TakenAway): boolean {
  return responses[row] === 0;
}

/** The tokens of a result after the pass. What takes its place counts alike, whatever it says. */
function tokensAfter(
  index: HistoryIndex,
  row: number,
  action: number | undefined,
  taken: TakenAway,
): number {
  if (isLeaving(taken.responses[row])) return 0;
  const tokens = index.responses.tokens.at(row);
  // Some that is smaller may yet stay.
  if (action !== ACTION.none) return Math.min(tokens, tokensLeft(action));
  const flags = index.responses.flags.at(row);
  if (!isKept(row, taken)) return tokensLeft(actionOf(taken.responses[row]));
  if (isGone(flags)) return PLACEHOLDER_TOKENS;
  return (flags & RESPONSE_FLAG.excerpt) === 0 ? tokens : EXCERPT_TOKENS;
}

/** What a result gives back; nothing when it is no reason for an edit. */
function gainOf(tokens: number, action: number | undefined, rules: WorkingSetRules): number {
  return tokens < rules.minCausingTokens ? 0 : Math.max(0, tokens - tokensLeft(action));
}

function tokensLeft(action: number | undefined): number {
  return action === ACTION.excerpt ? EXCERPT_TOKENS : PLACEHOLDER_TOKENS;
}
