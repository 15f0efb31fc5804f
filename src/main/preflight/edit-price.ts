// From where on an edit is worth the prompt cache that it costs. Pure: goes by what the history holds, so that another
// process comes to the same answer, and decides nothing about what is stale.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { paybackCallsAt, staleTokensNeeded } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { shareOf, tokensOf } from './token-tally.js';
import type { CountedTokens } from './token-tally.js';

/** About as many calls as recorded sessions of agents have, from some dozens of them. */
const USUAL_CALLS = 40;

/** Of a session that has gone on for longer than most, more is to be expected: this share of the calls so far. */
const SHARE_OF_CALLS = 0.25;

/** What an edit is judged by. */
export interface PricedEdit {
  readonly result: DensityResult;
  /** The history that it is an edit of. */
  readonly history: readonly IContent[];
  /** Entries from its start that a cache may hold. */
  readonly sentEntries: number;
  readonly countedTokens: CountedTokens;
  /** Those of the model. */
  readonly prices: CachePrices;
  /** What it may cost more than it saves in the next request, in the unit of the prices for a token. @default Infinity */
  readonly spendable?: number | undefined;
  /** Tokens that a prefix has to have to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

/**
 * Returns the entry from which on an edit pays best, or `Infinity` when no part of it pays.
 *
 * To keep what is stale is to pay rent: each call reads it from the cache. To take it away is to buy: what stands behind
 * it has to be written anew once. How many calls come nobody knows; as many
 * as a session of an agent usually has are expected, and more where it has gone on for long already. Of
 * all places the one with the highest gain is taken: results near the end leave soon, as little stands behind
 * them, and those far ahead wait until enough of them has come together. Where that costs more than may be spent, it waits: a
 * lesser one would only put it off.
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
 * Returns the entry from which on an edit pays best that takes a history below a step of the price, or `Infinity` where none does. Above
 * the step each call pays more for all that it holds; below it, until the history has grown as far again.
 *
 * @param tokensBelowStep counted tokens of the largest history there
 * @param above what caching costs above it
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

/** How many calls are to be expected of a session. */
function usualCalls(history: readonly IContent[]): number {
  return Math.max(USUAL_CALLS, SHARE_OF_CALLS * callsIn(history));
}

function callsIn(history: readonly IContent[]): number {
  return history.reduce((sum, { speaker }) => sum + (speaker === 'ai' ? 1 : 0), 0);
}

interface EditedPlace {
  /** An entry that is edited. */
  readonly at: number;
  /** Tokens that the edit takes away from there on, and those that a cache may hold of what stays. */
  readonly reclaimed: number;
  readonly behind: number;
}

/** The entries that an edit changes, from the end. */
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
