// What an edit has to take away to be worth that the provider's prompt cache is written anew behind it: the one rule that
// all batches go by, with the price of the model. Pure arithmetic; knows no history.

import { excerptTokens, PLACEHOLDER_TOKENS } from '../index/excerpt.js';
import { isGone, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { isDue, isStale } from './judge-working-set.js';
import type { WorkingSet } from './judge-working-set.js';
import { isLeaving } from './marks.js';
import type { Marks } from './marks.js';
import type { WorkingSetRules } from './working-set-rules.js';
/** What a token costs that is read from the cache, and one that is written to it, in any unit. */
export interface CachePrices {
  readonly read: number;
  readonly write: number;
}

/** What most models ask for, of the price of input that no cache holds; taken for those whose price nobody knows. */
export const USUAL_PRICES: CachePrices = { read: 0.1, write: 1.25 };

/** How many reads cost as much as to write a token anew in place of reading it. */
function rewriteReads({ read, write }: CachePrices): number {
  return (write - read) / read;
}

const USUAL_REWRITE_READS = rewriteReads(USUAL_PRICES);

/**
 * Returns how many stale tokens have to leave for an edit to be worth its price.
 *
 * @param behindTokens what stays behind the first of them, and is written anew
 * @param paybackCalls calls within which an edit has to pay for itself at the usual prices; `Infinity` when it costs nothing
 */
export function staleTokensNeeded(behindTokens: number, paybackCalls: number): number {
  return (USUAL_REWRITE_READS * behindTokens) / paybackCalls;
}

/**
 * Returns the calls within which an edit has to pay for itself where prices are others. To wait for twice as many stale tokens
 * halves the number of rewrites and doubles what is read in vain, so that the best amount grows with the root of what
 * a rewrite costs in reads, as that of an order grows with the cost of ordering.
 *
 * @param paybackCalls those at the usual prices
 */
export function paybackCallsAt(paybackCalls: number, prices: CachePrices): number {
  const reads = rewriteReads(prices);
  if (Number.isNaN(reads) || paybackCalls === 0 || paybackCalls === Infinity) return paybackCalls;
  // What costs no more to write than to read costs nothing to edit; what costs nothing to read is never worth an edit.
  return paybackCalls * Math.sqrt(USUAL_REWRITE_READS / Math.max(0, reads));
}

/** About what a call has, with its share of the answer that it stands in: the median of recorded sessions. */
const CALL_TOKENS = 100;

/** What other rules of a pass take away. */
export type TakenAway = Pick<Marks, 'calls' | 'responses'>;

/** What stale results come to. Tokens are estimates. */
export interface Reclaim {
  /** The entry from which on stale ones leave; `Infinity` when none does. */
  readonly firstEntry: number;
  /** What those would give back together whose time is over, and that stay all the same. */
  readonly waitingTokens: number;
  /** What these have to give back to leave; `Infinity` while all results together have few tokens. */
  readonly neededTokens: number;
}

/**
 * Decides from which place on stale results leave now: from where it pays best. Those whose time is over have to
 * pay for it, with the arguments that are spent; the others leave along. What stands behind a place is taken as it will be after the
 * pass, so that a second one finds nothing more.
 */
export function reclaimOf(
  index: HistoryIndex,
  { reason, spent }: Pick<WorkingSet, 'reason' | 'spent'>,
  { paybackCalls, freeTokens }: WorkingSetRules,
  taken: TakenAway,
): Reclaim {
  const { answers, calls, responses } = index;
  /** Where nothing has to be paid, nothing has to pay for it. */
  const pays = paybackCalls === Infinity ? isStale : isDue;
  const lastAnswer = answers.at(answers.length - 1);
  let [liveTokens, dueTokens, neededTokens] = [0, 0, 0];
  let [behind, best, leavingTokens] = [0, 0, 0];
  let firstEntry = Infinity;
  const consider = (entry: number, tokens: number): void => {
    dueTokens += tokens;
    neededTokens = staleTokensNeeded(behind, paybackCalls);
    const gain = dueTokens - neededTokens;
    // Not a number when nothing stands behind it and nothing ever pays.
    if (!(gain >= best) || dueTokens === 0) return;
    best = gain;
    leavingTokens = dueTokens;
    firstEntry = entry;
  };
  let call = calls.length - 1;
  const passCalls = (behindEntry: number): void => {
    for (; call >= 0 && calls.entry.at(call) > behindEntry; call -= 1) {
      const entry = calls.entry.at(call);
      // What the model was not sent yet has to be read anyway.
      if (taken.calls[call] !== 0 || entry >= lastAnswer) continue;
      const tokens = spent[call] ?? 0;
      behind += CALL_TOKENS + calls.spendable.at(call) - tokens;
      if (tokens > 0) consider(entry, tokens);
    }
  };
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    const entry = responses.entry.at(row);
    passCalls(entry);
    const tokens = responses.tokens.at(row);
    const isTaken = taken.responses[row] !== 0;
    if (!isTaken) liveTokens += tokens;
    if (entry < lastAnswer) behind += tokensAfter(index, row, reason, taken);
    if (!isTaken && pays(reason[row])) consider(entry, Math.max(0, tokens - excerptTokens(tokens)));
  }
  passCalls(-1);
  return liveTokens < freeTokens
    ? { firstEntry: Infinity, waitingTokens: dueTokens, neededTokens: Infinity }
    : { firstEntry, waitingTokens: dueTokens - leavingTokens, neededTokens };
}

/** The tokens of a result after the pass. What takes its place counts alike, whatever it says. */
function tokensAfter(
  { responses }: HistoryIndex,
  row: number,
  reason: Uint8Array,
  taken: TakenAway,
): number {
  if (isLeaving(taken.responses[row])) return 0;
  const flags = responses.flags.at(row);
  const isPlaceholder =
    taken.responses[row] !== 0 || isGone(flags) || (flags & RESPONSE_FLAG.excerpt) !== 0;
  if (isPlaceholder || isStale(reason[row])) return PLACEHOLDER_TOKENS;
  return responses.tokens.at(row);
}
