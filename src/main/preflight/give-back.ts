// Gives results of a rewritten history their lines back that only removed results showed. Applies nothing.

import type { IContent } from '../../shared/content.js';
import { entriesAlone } from '../../shared/state/stand-alone.js';
import type { SessionParts } from './session-parts.js';

/** Share of what a compression or a cut saves, and of what it leaves below the threshold or limit, that is given back at most. */
export const GIVEN_BACK_SHARE = 0.5;

/**
 * Gives results their lines back: newest first, as far as there is room for.
 *
 * @param former the history with the results that `compacted` lacks
 * @param room counted tokens
 * @returns the list with these results, the same list if there are none, and the counted tokens that they take more than before
 */
export async function giveBack(
  { history, config }: Pick<SessionParts, 'history' | 'config'>,
  former: readonly IContent[],
  compacted: readonly IContent[],
  room: number,
): Promise<{ readonly newHistory: readonly IContent[]; readonly tokens: number }> {
  const given = new Map<IContent, IContent>();
  let tokens = 0;
  if (room > 0) {
    const { toolCatalog } = config.densityOptions;
    const alone = [...entriesAlone(former, compacted, toolCatalog)].reverse();
    const counts = await history.countEach(alone.flat());
    for (const [at, [referring, entry]] of alone.entries()) {
      const added = (counts[2 * at + 1] ?? 0) - (counts[2 * at] ?? 0);
      if (tokens + added > room) continue;
      tokens += added;
      given.set(referring, entry);
    }
  }
  if (given.size === 0) return { newHistory: compacted, tokens };
  return { newHistory: compacted.map((entry) => given.get(entry) ?? entry), tokens };
}
