// Which passes a preflight makes, by where its request is to be in the model's price list.

import { isBatching } from './edit-policy.js';
import type { LandingPoint } from './edit-policy.js';
import type { SessionParts } from './session-parts.js';
import type { RequestTerms } from './token-tally.js';

/**
 * Returns, in counted tokens, how many a history must have for its present request to be cached (0 or less if any will do), and
 * how many it may have below a step of the model's price (`Infinity` if there is none).
 */
export function requestTerms({
  cache,
  gauge,
}: Pick<SessionParts, 'cache' | 'gauge'>): RequestTerms {
  const { leastCachedTokens = 0, above } = cache.price ?? {};
  return {
    toBeCached: gauge.roomTokens(leastCachedTokens),
    above: { tokens: above === undefined ? Infinity : gauge.roomTokens(above.promptTokens) },
  };
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
  parts: Pick<SessionParts, 'cache' | 'config' | 'gauge'>,
  point: Pick<LandingPoint, 'isForced' | 'isBatchPoint'>,
  isFree: boolean,
  tokens: number,
): readonly DuePass[] {
  const { edits, minReclaimTokens } = parts.config.edits;
  const { toBeCached, above } = requestTerms(parts);
  const weighsCost = isBatching(edits) && minReclaimTokens === undefined;
  const isAboveStep = point.isBatchPoint && !isFree && weighsCost && tokens > above.tokens;
  const last = { isFree, point: { ...point, toBeCached, isAboveStep } };
  if (!isAboveStep) return [last];
  return [{ isFree: true, point: { ...point, toBeCached, tokensBelowStep: above.tokens } }, last];
}
