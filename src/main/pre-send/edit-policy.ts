// When a density edit may land: an edit rewrites what was sent, and the provider's cache with it. Pure:
// it is told the facts, and edits nothing.

/**
 * When density edits land. `every-turn`: as soon as there are any. `batched`: once they are worth the
 * cache that they cost, when that is cold anyway, or when the history would be compressed. `at-birth`:
 * in entries that were never sent, and elsewhere only when the history would be compressed.
 */
export type EditPolicy = 'every-turn' | 'batched' | 'at-birth';

/**
 * Why a density edit landed when it did. `every-turn`: the policy asks for nothing else.
 * `reclaims-enough`: it takes away `minReclaimTokens`, or what the price of the cache asks for. `cache-cold`: the provider had forgotten what was
 * sent, or nothing was. `threshold`: the history was over the threshold or the limit. `unsent`: it
 * touches nothing that was sent. `sent-before`: the history was taken up, and had been sent with it.
 */
export type LandingReason =
  'every-turn' | 'reclaims-enough' | 'cache-cold' | 'threshold' | 'unsent' | 'sent-before';

/** What a decision goes by. */
export interface EditFacts {
  /** Whether history, overhead and pending tokens reach the threshold; what does not fit the window does. */
  readonly isForced: boolean;
  /** Whether no request is so recent that the provider still has it in its cache. */
  readonly isCacheCold: boolean;
  /** Entries from the start of the history that stand as they were sent. */
  readonly sentEntries: number;
  /** About how many tokens the edit takes away; asked only when that decides. */
  readonly reclaimedTokens: () => number;
  /** What it has to take away; `undefined` when the price of the cache decides. */
  readonly minReclaimTokens: number | undefined;
  /** From which entry on the edit is worth its price, `Infinity` for nowhere; asked only when that decides. */
  readonly worthwhileFrom: () => number;
}

/** What may land now: all of an edit, what touches nothing before an entry, or nothing. */
export type EditDecision =
  | { readonly verdict: 'land' | 'unsent-only'; readonly reason: LandingReason }
  | { readonly verdict: 'land-from'; readonly entry: number; readonly reason: LandingReason }
  | { readonly verdict: 'hold' };

/** Decides what of a density edit may land. */
export function decideEdits(policy: EditPolicy, facts: EditFacts): EditDecision {
  if (policy === 'every-turn') return { verdict: 'land', reason: 'every-turn' };
  if (facts.isForced) return { verdict: 'land', reason: 'threshold' };
  if (policy === 'at-birth') {
    return { verdict: facts.sentEntries === 0 ? 'land' : 'unsent-only', reason: 'unsent' };
  }
  if (facts.isCacheCold) return { verdict: 'land', reason: 'cache-cold' };
  if (facts.minReclaimTokens !== undefined) {
    return facts.reclaimedTokens() >= facts.minReclaimTokens
      ? { verdict: 'land', reason: 'reclaims-enough' }
      : { verdict: 'hold' };
  }
  const entry = facts.worthwhileFrom();
  return entry === Infinity
    ? { verdict: 'hold' }
    : { verdict: 'land-from', entry, reason: 'reclaims-enough' };
}
