// About how many tokens an edit takes away, from counts that are known. Counts no tokens itself.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';

/** Returns the tokens of an entry, or `undefined` when nobody has counted it. */
export type CountedTokens = (entry: IContent) => number | undefined;

/** Tokens of an entry, counted or else estimated. */
export function tokensOf(entry: IContent, countedTokens: CountedTokens): number {
  return countedTokens(entry) ?? estimateEntryTokens(entry);
}

/**
 * About how many tokens a history loses by an edit. An entry that is put in place and was not counted
 * is taken to have as many per character as the one that it replaces.
 */
export function reclaimedTokens(
  { removals, replacements }: DensityResult,
  history: readonly IContent[],
  countedTokens: CountedTokens,
): number {
  let reclaimed = 0;
  for (const index of removals) {
    const before = history[index];
    if (before !== undefined) reclaimed += tokensOf(before, countedTokens);
  }
  for (const [index, after] of replacements) {
    const before = history[index];
    if (before === undefined) continue;
    const tokens = tokensOf(before, countedTokens);
    reclaimed += tokens - (countedTokens(after) ?? tokens * shareOf(after, before));
  }
  return Math.round(reclaimed);
}

/** What an entry that takes the place of another has of its tokens, by characters: nobody has counted it. */
export function shareOf(after: IContent, before: IContent): number {
  return estimateEntryTokens(after) / Math.max(1, estimateEntryTokens(before));
}
