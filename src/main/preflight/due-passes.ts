// Decides which density passes a preflight makes: an additional one if its request is above a step of the model's price.

import { isBatching } from './edit-policy.js';
import type { LandingPoint } from './edit-policy.js';
import type { SessionParts } from './session-parts.js';
import { cachingTerms } from './token-tally.js';

/** A pass of a preflight, and the circumstances in which its edit may land. */
export interface DuePass {
  /** Whether all stale content may be removed, whatever losing the prompt cache costs. */
  readonly ignoresCacheCost: boolean;
  readonly point: LandingPoint;
}

/**
 * Returns the passes of a preflight, in order: each is due only if nothing of those before it has landed. Under a policy that weighs
 * cost, the first pass at a batch point tries to bring a history that is above a price step below it.
 *
 * @param tokens counted tokens of the history
 */
export function duePasses(
  parts: Pick<SessionParts, 'cache' | 'config' | 'gauge'>,
  point: Pick<LandingPoint, 'isForced' | 'isBatchPoint'>,
  ignoresCacheCost: boolean,
  tokens: number,
): readonly DuePass[] {
  const { edits, minReclaimTokens } = parts.config.edits;
  const { minCachedTokens, above } = cachingTerms(parts);
  const weighsCost = isBatching(edits) && minReclaimTokens === undefined;
  const tokensBelowStep = above?.tokens ?? Infinity;
  const isAboveStep =
    point.isBatchPoint && !ignoresCacheCost && weighsCost && tokens > tokensBelowStep;
  const last = { ignoresCacheCost, point: { ...point, minCachedTokens, isAboveStep } };
  if (!isAboveStep) return [last];
  return [{ ignoresCacheCost: true, point: { ...point, minCachedTokens, tokensBelowStep } }, last];
}
