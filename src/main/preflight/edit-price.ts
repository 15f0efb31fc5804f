// From which entry on an edit is worth the prompt cache it invalidates. Pure, and a function of the history alone, so that
// another process gets the same answer. Does not decide what is stale.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { paybackCallsAt, staleTokensNeeded } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { shareOf, tokensOf } from './token-tally.js';
import type { CountedTokens } from './token-tally.js';

/** Calls of a typical recorded agent session, from a few dozen of them. */
const USUAL_CALLS = 40;

/** A session that outlasts most is expected to go on for this share of its calls so far. */
const SHARE_OF_CALLS = 0.25;

/** What an edit is judged by. */
export interface PricedEdit {
  readonly result: DensityResult;
  /** The history before the edit. */
  readonly history: readonly IContent[];
  /** Length of the prefix that a cache may hold. */
  readonly sentEntries: number;
  readonly countedTokens: CountedTokens;
  readonly prices: CachePrices;
  /** How much more than it saves it may cost in the next request, in price units per token. @default Infinity */
  readonly spendable?: number | undefined;
  /** Minimum tokens of a prefix to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

/**
 * Returns the entry from which on an edit pays best, or `Infinity` if no part of it pays.
 *
 * Keeping stale content is like paying rent: each call reads it from the cache. Removing it is like buying: everything behind
 * it must be written to the cache once more. The number of future calls is unknown; a typical session length is assumed, and
 * more for a session that has gone on for longer. Of all entries the one with the highest gain wins: results near the end leave
 * early, since little follows them; those far ahead wait until enough has accumulated. If the best place costs more than
 * `spendable`, nothing lands: a smaller edit would only delay it.
 */
export function worthwhileFrom(edit: PricedEdit): number {
  const { prices, spendable = Infinity } = edit;
  const expectedCalls = paybackCallsAt(usualCalls(edit.history), prices);
  let [gain, from, cost] = [0, Infinity, 0];
  for (const { at, reclaimed, behind } of placesOf(edit)) {
    const net = reclaimed - (behind === 0 ? 0 : staleTokensNeeded(behind, expectedCalls));
    if (net <= gain) continue;
    [gain, from] = [net, at];
    cost = (prices.write - prices.read) * behind - prices.read * reclaimed;
  }
  return cost > spendable ? Infinity : from;
}

/**
 * Returns the entry from which on an edit pays best among those that bring the history below a price step, or `Infinity` if
 * none does. Above the step each call pays more for everything; below it, savings last until the history has grown back.
 *
 * @param tokensBelowStep counted tokens of the largest history below the step
 * @param above cache prices above the step
 */
export function belowStepFrom(
  edit: PricedEdit,
  tokensBelowStep: number,
  above: CachePrices,
): number {
  const { history, prices, countedTokens } = edit;
  const tokens = sum(history, countedTokens);
  const growth = Math.max(1, tokens / Math.max(1, callsIn(history)));
  let [gain, from] = [0, Infinity];
  for (const { at, reclaimed, behind } of placesOf(edit)) {
    const left = tokens - reclaimed;
    if (left > tokensBelowStep) continue;
    const calls = Math.min(usualCalls(history), 1 + (tokensBelowStep - left) / growth);
    const saved = calls * (above.read * tokens - prices.read * left);
    const net = saved - (prices.write - prices.read) * behind;
    if (net > gain) [gain, from] = [net, at];
  }
  return from;
}

function sum(history: readonly IContent[], countedTokens: CountedTokens): number {
  return history.reduce((tokens, entry) => tokens + tokensOf(entry, countedTokens), 0);
}

/** The number of calls to expect of a session. */
function usualCalls(history: readonly IContent[]): number {
  return Math.max(USUAL_CALLS, SHARE_OF_CALLS * callsIn(history));
}

function callsIn(history: readonly IContent[]): number {
  return history.reduce((sum, { speaker }) => sum + (speaker === 'ai' ? 1 : 0), 0);
}

interface EditedPlace {
  /** An edited entry. */
  readonly at: number;
  /** Tokens removed from this entry on, and tokens that stay there and may be cached. */
  readonly reclaimed: number;
  readonly behind: number;
}

/** The edited entries, from the end. */
function* placesOf({
  result,
  history,
  sentEntries,
  countedTokens,
  toBeCached = 0,
}: PricedEdit): Generator<EditedPlace> {
  const removed = new Set(result.removals);
  let [reclaimed, behind] = [0, 0];
  // A prefix that is too short to be cached is written anew as well.
  let before = toBeCached > 0 ? sum(history, countedTokens) : 0;
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const entry = history[at];
    if (entry === undefined) continue;
    const after = result.replacements.get(at);
    const tokens = tokensOf(entry, countedTokens);
    const kept = after === undefined ? tokens : tokens * shareOf(after, entry);
    const left = removed.has(at) ? 0 : kept;
    reclaimed += tokens - left;
    if (at < sentEntries) behind += left;
    before -= tokens;
    if (!removed.has(at) && after === undefined) continue;
    const isShort = toBeCached > 0 && behind > 0 && before < toBeCached;
    yield { at, reclaimed, behind: isShort ? behind + before : behind };
  }
}
