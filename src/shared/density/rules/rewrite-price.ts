// What an edit must save to be worth rewriting the provider's prompt cache behind it, and from
// which entry on pruning pays. The one price formula for all batches; pure arithmetic. Assumes that
// the cache is read up to the edit; decision 24 says where a provider reads less.

import { excerptTokens, PLACEHOLDER_TOKENS } from '../index/excerpt.js';
import { hasPlaceholder, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { isDue, isStale } from './judge-working-set.js';
import type { WorkingSet } from './judge-working-set.js';
import { isRemoved } from './marks.js';
import type { Marks } from './marks.js';
import type { WorkingSetRules } from './working-set-rules.js';

/** Prices of a token read from the cache and of one written to it, in any common unit. */
export interface CachePrices {
  readonly read: number;
  readonly write: number;
}

/** The usual prices, relative to uncached input; used for models whose prices are unknown. */
export const USUAL_PRICES: CachePrices = { read: 0.1, write: 1.25 };

/** The extra price of writing a token to the cache instead of reading it, in cache reads. */
function rewriteReads({ read, write }: CachePrices): number {
  return (write - read) / read;
}

const USUAL_REWRITE_READS = rewriteReads(USUAL_PRICES);

/**
 * Returns how many stale tokens an edit must remove to be worth its price.
 *
 * @param behindTokens tokens behind the first edit that have to be rewritten
 * @param paybackCalls calls within which the edit must pay for itself at usual prices; `Infinity`
 *   when it is free
 */
export function staleTokensNeeded(behindTokens: number, paybackCalls: number): number {
  return (USUAL_REWRITE_READS * behindTokens) / paybackCalls;
}

/**
 * Adapts the payback period to other prices. Waiting for twice as many stale tokens halves the
 * number of rewrites and doubles what is read in vain, so the best amount grows with the square
 * root of the rewrite price, as in the economic order quantity.
 *
 * @param paybackCalls the period at usual prices
 */
export function paybackCallsAt(paybackCalls: number, prices: CachePrices): number {
  const reads = rewriteReads(prices);
  if (Number.isNaN(reads) || paybackCalls === 0 || paybackCalls === Infinity) return paybackCalls;
  // If writing costs no more than reading, edits are free; if reading is free, no edit ever pays.
  return paybackCalls * Math.sqrt(USUAL_REWRITE_READS / Math.max(0, reads));
}

/** Adapts the rules to a model's cache prices. */
export function atPrices(rules: WorkingSetRules, prices: CachePrices): WorkingSetRules {
  return { ...rules, paybackCalls: paybackCallsAt(rules.paybackCalls, prices) };
}

/**
 * Estimated tokens of a call with its share of the answer around it: the median of recorded
 * sessions.
 */
const CALL_TOKENS = 100;

/** What other rules of the pass remove. */
export type OtherRemovals = Pick<Marks, 'calls' | 'responses'>;

/** What pruning stale results would bring. Tokens are estimates. */
export interface Reclaim {
  /** Stale results from this entry on are pruned; `Infinity` for none. */
  readonly firstEntry: number;
  /** Tokens of due results that are kept for now. */
  readonly waitingTokens: number;
  /**
   * What the waiting results must save to be pruned; `Infinity` while all results together, and all
   * spent arguments, are below `freeTokens`.
   */
  readonly neededTokens: number;
}

/**
 * Finds the entry from which pruning stale results pays best now. Due results and spent arguments
 * must pay for the rewrite; other stale results go along. Tokens behind an entry are counted as
 * they will be after the pass, so that a second pass finds nothing more.
 */
export function reclaimOf(
  index: HistoryIndex,
  { reason, spent }: Pick<WorkingSet, 'reason' | 'spent'>,
  { paybackCalls, freeTokens }: WorkingSetRules,
  taken: OtherRemovals,
): Reclaim {
  const { answers, calls, responses } = index;
  /** A free edit needs no due result to pay for it. */
  const pays = paybackCalls === Infinity ? isStale : isDue;
  const lastAnswer = answers.at(answers.length - 1);
  let [liveTokens, spentTokens, dueTokens, neededTokens] = [0, 0, 0, 0];
  let [behind, best, leavingTokens] = [0, 0, 0];
  let firstEntry = Infinity;
  const consider = (entry: number, tokens: number): void => {
    dueTokens += tokens;
    neededTokens = staleTokensNeeded(behind, paybackCalls);
    const gain = dueTokens - neededTokens;
    // `gain` is NaN (0 / 0) if nothing has to be rewritten behind the entry and no edit ever pays.
    if (!(gain >= best) || dueTokens === 0) return;
    best = gain;
    leavingTokens = dueTokens;
    firstEntry = entry;
  };
  let call = calls.length - 1;
  const weighCallsBehind = (behindEntry: number): void => {
    for (; call >= 0 && calls.entry.at(call) > behindEntry; call -= 1) {
      const entry = calls.entry.at(call);
      // The model has not been sent these yet, so they are written in any case.
      if (taken.calls[call] !== 0 || entry >= lastAnswer) continue;
      const tokens = spent[call] ?? 0;
      spentTokens += tokens;
      behind += CALL_TOKENS + calls.spendable.at(call) - tokens;
      if (tokens > 0) consider(entry, tokens);
    }
  };
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    const entry = responses.entry.at(row);
    weighCallsBehind(entry);
    const tokens = responses.tokens.at(row);
    const isTaken = taken.responses[row] !== 0;
    if (!isTaken) liveTokens += tokens;
    if (entry < lastAnswer) behind += tokensAfter(index, row, reason, taken);
    if (!isTaken && pays(reason[row])) consider(entry, Math.max(0, tokens - excerptTokens(tokens)));
  }
  weighCallsBehind(-1);
  return Math.max(liveTokens, spentTokens) < freeTokens
    ? { firstEntry: Infinity, waitingTokens: dueTokens, neededTokens: Infinity }
    : { firstEntry, waitingTokens: dueTokens - leavingTokens, neededTokens };
}

/** The tokens of a result after the pass. Every replacement counts the same. */
function tokensAfter(
  { responses }: HistoryIndex,
  row: number,
  reason: Uint8Array,
  taken: OtherRemovals,
): number {
  if (isRemoved(taken.responses[row])) return 0;
  const flags = responses.flags.at(row);
  const isPlaceholder =
    taken.responses[row] !== 0 || hasPlaceholder(flags) || (flags & RESPONSE_FLAG.excerpt) !== 0;
  if (isPlaceholder || isStale(reason[row])) return PLACEHOLDER_TOKENS;
  return responses.tokens.at(row);
}
