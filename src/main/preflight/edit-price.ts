// From where on an edit is worth the prompt cache that it costs. Pure: goes by what the history holds, so that another
// process comes to the same answer, and decides nothing about what is stale.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { paybackCallsAt, staleTokensNeeded } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { shareOf, tokensOf } from './cost-meter.js';
import type { CountedTokens } from './cost-meter.js';

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
}

/**
 * Returns the entry from which on an edit pays best, or `Infinity` when no part of it pays.
 *
 * To keep what is stale is to pay rent: each call reads it from the cache. To take it away is to buy: what stands behind
 * it has to be written anew once. How many calls come nobody knows; as many
 * as a session of an agent usually has are expected, and more where it has gone on for long already. Of
 * all places the one with the highest gain is taken: results near the end leave soon, as little stands behind
 * them, and those far ahead wait until enough of them has come together.
 */
export function worthwhileFrom({
  result,
  history,
  sentEntries,
  countedTokens,
  prices,
}: PricedEdit): number {
  const removed = new Set(result.removals);
  const calls = history.reduce((sum, { speaker }) => sum + (speaker === 'ai' ? 1 : 0), 0);
  const expectedCalls = paybackCallsAt(Math.max(USUAL_CALLS, SHARE_OF_CALLS * calls), prices);
  let [reclaimed, behind, gain] = [0, 0, 0];
  let from = Infinity;
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const entry = history[at];
    if (entry === undefined) continue;
    const after = result.replacements.get(at);
    const tokens = tokensOf(entry, countedTokens);
    const left = removed.has(at)
      ? 0
      : after === undefined
        ? tokens
        : tokens * shareOf(after, entry);
    reclaimed += tokens - left;
    if (at < sentEntries) behind += left;
    if (left === tokens && after === undefined) continue;
    const net = reclaimed - (behind === 0 ? 0 : staleTokensNeeded(behind, expectedCalls));
    if (!(net > gain)) continue;
    gain = net;
    from = at;
  }
  return from;
}
