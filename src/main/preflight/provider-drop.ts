// What a provider has compacted at a threshold of its own: from the block on that came with an answer, what stood before it is
// of no use to the provider, and need not be sent. Finds that; lands nothing.

import { COMPACTION_KIND } from '../../shared/content.js';
import type { IContent } from '../../shared/content.js';
import { isProviderEntry } from '../strategies/provider-compaction.js';
import { wholeBoundary, withWork } from './carry-work.js';
import type { MadeCompression } from './make-compression.js';
import type { SessionParts } from './session-parts.js';

/**
 * Returns how many entries may go from the start because a provider's compaction behind them stands in for them: those before
 * the newest, as far as no call among them is open or answered behind it. 0 where there is none, and where the user alone has
 * spoken before it: these words came with it from a request for a compaction, and are part of it.
 *
 * @param from entries before this one hold no compaction that was not looked at
 */
export function replacedEntries(history: readonly IContent[], from: number): number {
  for (let at = history.length - 1; at >= from; at -= 1) {
    const entry = history[at];
    if (entry === undefined || !isProviderEntry(entry) || kindOf(entry) !== COMPACTION_KIND)
      continue;
    const hasAnswers = history.slice(0, at).some(({ speaker }) => speaker !== 'human');
    return hasAnswers ? wholeBoundary(history, at) : 0;
  }
  return 0;
}

function kindOf({ blocks: [block] }: IContent): string | undefined {
  return block?.type === 'opaque' ? block.kind : undefined;
}

/** Makes of a history what is left of it without its first entries, with the note of what was asked and done in them. */
export async function dropReplaced(
  parts: SessionParts,
  replaced: number,
): Promise<MadeCompression> {
  const { history } = parts;
  const former = [...history.getRawHistory()];
  const kept = former.slice(replaced);
  const left = await history.estimateTokensForContents(kept);
  return {
    by: parts.resolveStrategy('provider'),
    newHistory: withWork(parts, former, kept, history.getTotalTokens() - left, true),
    llmCallMade: false,
    keepsReasoning: true,
    isProvidersOwn: true,
  };
}
