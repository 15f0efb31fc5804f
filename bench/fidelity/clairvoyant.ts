// What a pruner that knows the future would keep. Greedy, so it is near the minimum but may miss it.

import type { ContentBlock } from '../../src/index.js';
import type { NeedKind } from './needs/need.js';
import type { RecordedSession } from './recorded-session.js';

/**
 * The entry of the last answer that needs each result. A line that neither text nor a call shows, nor a result needed then
 * anyway, is charged to the newest result that shows it. Absent for results that nothing needs.
 *
 * @param kinds the needs that count
 */
export function neededUntil(
  { needsOf }: RecordedSession,
  kinds: ReadonlySet<NeedKind>,
): ReadonlyMap<ContentBlock, number> {
  const needed = new Map<ContentBlock, number>();
  // Backwards, because a result kept for a later answer also serves the earlier ones.
  for (const entry of [...needsOf.keys()].sort((a, b) => b - a)) {
    for (const { kind, shownBy } of needsOf.get(entry)?.toReversed() ?? []) {
      if (!kinds.has(kind)) continue;
      for (const shown of shownBy) {
        if (shown.some((block) => block.type !== 'tool_response' || needed.has(block))) continue;
        const newest = shown.at(-1);
        if (newest !== undefined) needed.set(newest, entry);
      }
    }
  }
  return needed;
}
