// What a session's memory keeps when its history has changed, so that only some of its edits were followed.

import type { IContent } from '../../shared/content.js';
import type { Fold } from '../../shared/state/fold-journal.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import type { OpenState, SessionMemory, TallyMemory } from './session-state.js';

/** Restarts the batch points: they are lengths in added entries, and those of the former history do not apply. */
export const FIRST_PASSES = { nextPoint: 0, isSettled: false };

/** If less than this share of the last request's tokens is unchanged, the provider's cache counts as cold. */
const LEAST_KEPT_SHARE = 0.125;

/**
 * Returns the part of a state's memory that stays valid, in slices. With and without edits, the provider's cache is valid only up
 * to the first difference, so this rewrite must not count as a cost of the session's edits.
 *
 * @param added the entries that were folded
 */
export function* keptMemory(
  { memory, tokens }: Pick<OpenState, 'memory' | 'tokens'>,
  added: readonly IContent[],
  fold: Fold,
): Generator<void, SessionMemory, undefined> {
  const { sent, costs, usage, summaries, refusing } = memory;
  const entries = Math.min(sent.intactEntries, fold.intactEntries);
  const kept = tokens.slice(0, entries).reduce<number>((sum, count = 0) => sum + count, 0);
  const isKept = kept >= LEAST_KEPT_SHARE * costs.compacted[2];
  const reclaimedTokens = fold.isWhole
    ? sent.reclaimedTokens
    : Math.min(sent.reclaimedTokens, yield* removedTokens(added, fold.entries));
  const { dollars } = costs;
  return {
    sent: {
      entries,
      intactEntries: entries,
      idleMs: isKept ? sent.idleMs : null,
      isCached: sent.isCached,
      reclaimedTokens,
      staleReasoningFrom: sent.staleReasoningFrom && Math.min(sent.staleReasoningFrom, entries),
      lostEntries: fold.entries.length,
    },
    costs: {
      ...costs,
      compacted: endingWith(costs.compacted, kept),
      uncompacted: endingWith(costs.uncompacted, kept + reclaimedTokens),
      dollars: dollars && {
        ...dollars,
        rules: dollars.rules.map(([rule, removed, saved]) => [
          rule,
          (removed * reclaimedTokens) / Math.max(1, sent.reclaimedTokens),
          saved,
        ]),
      },
    },
    passes: FIRST_PASSES,
    floorTokens: 0,
    request: null,
    usage,
    summaries,
    refusing,
  };
}

/** Estimates the tokens that edits have removed: a state has no counts of what is gone. */
function* removedTokens(
  added: readonly IContent[],
  standing: readonly IContent[],
): Generator<void, number, undefined> {
  let tokens = 0;
  for (const [sign, entries, others] of [
    [1, added, new Set(standing)],
    [-1, standing, new Set(added)],
  ] as const) {
    for (const [at, entry] of entries.entries()) {
      if (!others.has(entry)) tokens += sign * estimateEntryTokens(entry);
      if (at % 8 === 0) yield;
    }
  }
  return tokens;
}

/** The sums, as if the last request had had `tokens` tokens. */
function endingWith([sent, read, _last, ...above]: TallyMemory, tokens: number): TallyMemory {
  return [sent, read, tokens, ...above];
}
