// Restores lines in results of a rewritten history that refer to removed results, which no other result shows. Applies nothing.

import type { IContent } from '../../shared/content.js';
import { referringEntries } from '../../shared/state/without-references.js';
import type { SessionParts } from './session-parts.js';

/** Lines are restored for at most this share of what a compression saves, and of the room it or a cut leaves below threshold or limit. */
export const RESTORED_SHARE = 0.5;

/**
 * Restores the lines of results, newest first, as far as there is room.
 *
 * @param former the history with the results that `compacted` lacks
 * @param room maximum counted tokens to add; `null` if no result may change. Where lines have no room, references no longer count
 *   calls back, because some of these are gone
 * @returns the list with the restored results (the same list if there are none), and the counted tokens that they add
 */
export async function restoreLines(
  { history, config }: Pick<SessionParts, 'history' | 'config'>,
  former: readonly IContent[],
  compacted: readonly IContent[],
  room: number | null,
): Promise<{ readonly newHistory: readonly IContent[]; readonly tokens: number }> {
  if (room === null) return { newHistory: compacted, tokens: 0 };
  const { toolCatalog } = config.densityOptions;
  const referring = referringEntries(former, compacted, toolCatalog);
  const given = new Map(referring.unplaced);
  let tokens = 0;
  if (room > 0) {
    const restored = [...referring.restored].reverse();
    const counts = await history.countEach(restored.flat());
    for (const [at, [before, entry]] of restored.entries()) {
      const added = (counts[2 * at + 1] ?? 0) - (counts[2 * at] ?? 0);
      if (tokens + added > room) continue;
      tokens += added;
      given.set(before, entry);
    }
  }
  if (given.size === 0) return { newHistory: compacted, tokens };
  return { newHistory: compacted.map((entry) => given.get(entry) ?? entry), tokens };
}
