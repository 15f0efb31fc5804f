// Which passes a preflight makes, by where its request is to be in the model's price list.

import { isBatching } from './edit-policy.js';
import type { LandingPoint } from './edit-policy.js';
import type { SessionParts } from './session-parts.js';

/** Returns the counted tokens that a history may have before its request reaches a price step; `Infinity` if there is none. */
export function tokensBelowStep(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  const { above } = cache.price ?? {};
  return above === undefined
    ? Infinity
    : gauge.budget.roomTokens(pendingTokens, above.promptTokens);
}

/** Returns the minimum counted tokens of a history for its request to be cached; 0 or less if all are. */
export function tokensToBeCached(
  { cache, gauge }: Pick<SessionParts, 'cache' | 'gauge'>,
  pendingTokens: number,
): number {
  return gauge.budget.roomTokens(pendingTokens, cache.price?.leastCachedTokens ?? 0);
}

/** A pass of a preflight, and the circumstances for which its edit is judged. */
export interface DuePass {
  /** Whether all stale content may be removed. */
  readonly isFree: boolean;
  readonly point: LandingPoint;
}

/**
 * The passes of a preflight, in order: the next one is due if nothing of one has landed. Under a policy that weighs cost, a batch
 * first tries to bring a history that is above a price step below it.
 *
 * @param tokens counted tokens of the history
 */
export function duePasses(
  parts: Pick<SessionParts, 'cache' | 'gauge' | 'edits'>,
  point: Pick<LandingPoint, 'isForced' | 'isBatchPoint'>,
  isFree: boolean,
  pendingTokens: number,
  tokens: number,
): readonly DuePass[] {
  const { edits, minReclaimTokens } = parts.edits;
  const limit = tokensBelowStep(parts, pendingTokens);
  const weighsCost = isBatching(edits) && minReclaimTokens === undefined;
  const isAboveStep = point.isBatchPoint && !isFree && weighsCost && tokens > limit;
  const toBeCached = tokensToBeCached(parts, pendingTokens);
  const last = { isFree, point: { ...point, toBeCached, isAboveStep } };
  if (!isAboveStep) return [last];
  return [{ isFree: true, point: { ...point, toBeCached, tokensBelowStep: limit } }, last];
}
