// When it is worth it to take stale results away: every edit makes the provider read anew what stands behind
// it, so that results leave in steps. Pure arithmetic over an index's columns; decides nothing about what is stale.

import { EXCERPT_TOKENS } from '../index/excerpt.js';
import { isGone, RESPONSE_FLAG, RESULT_MARK } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { WorkingSetRules } from './working-set-rules.js';

/** About what a placeholder has. */
const PLACEHOLDER_TOKENS = 16;

/** About what a call has, with its share of the answer that it stands in: the median of recorded sessions. */
const CALL_TOKENS = 100;

/** What other phases of a pass take away, by row: 1 in `calls` and `responses`, one of `RESULT_MARK` in `results`. */
export interface TakenAway {
  readonly calls: Uint8Array;
  readonly responses: Uint8Array;
  readonly results: Uint8Array;
}

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
 * @param stale by row of responses, one of `RESULT_MARK` for what may become of it; `none` where it was taken away
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
    if (stale[row] !== RESULT_MARK.none) staleTokens += gainOf(tokens, stale[row], rules);
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
      if (taken.calls[call] !== 1) behind += CALL_TOKENS;
    }
    if (behind > rules.tailTokens) break;
    behind += tokensAfter(index, row, stale[row], taken);
    if (stale[row] === RESULT_MARK.none) continue;
    gain += gainOf(responses.tokens.at(row), stale[row], rules);
    if (gain >= Math.max(rules.minTailReclaim, rules.minTailShare * behind)) firstRow = row;
  }
  return firstRow;
}

/** Whether the other phases leave a result alone. */
function isKept(row: number, { responses, results }: TakenAway): boolean {
  return responses[row] !== 1 && results[row] === RESULT_MARK.none;
}

/** The tokens of a result after the pass. What takes its place counts alike, whatever it says. */
function tokensAfter(
  index: HistoryIndex,
  row: number,
  mark: number | undefined,
  taken: TakenAway,
): number {
  if (taken.responses[row] === 1) return 0;
  const tokens = index.responses.tokens.at(row);
  // Some that is smaller may yet stay.
  if (mark !== RESULT_MARK.none) return Math.min(tokens, tokensLeft(mark));
  const flags = index.responses.flags.at(row);
  if (!isKept(row, taken) || isGone(flags)) return PLACEHOLDER_TOKENS;
  return (flags & RESPONSE_FLAG.excerpt) === 0 ? tokens : EXCERPT_TOKENS;
}

/** What a result gives back; nothing when it is no reason for an edit. */
function gainOf(tokens: number, mark: number | undefined, rules: WorkingSetRules): number {
  return tokens < rules.minCausingTokens ? 0 : Math.max(0, tokens - tokensLeft(mark));
}

function tokensLeft(mark: number | undefined): number {
  return mark === RESULT_MARK.excerpt ? EXCERPT_TOKENS : PLACEHOLDER_TOKENS;
}
