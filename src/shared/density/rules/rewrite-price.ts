// What an edit has to take away to be worth that the provider's prompt cache is written anew behind it: the one rule that
// all batches go by, with the price of the model. Pure arithmetic; knows no history.

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
