// What a pruner that knows the future would keep. Greedy, so that the least that must be kept is near
// to it and not always it.

import type { ContentBlock } from '../../src/index.js';
import type { NeedKind } from './needs/need.js';
import type { RecordedSession } from './recorded-session.js';

/**
 * By result, the entry of the last answer that needs it: for a line which neither text nor a call shows, nor a
 * result that is needed then anyway, the newest result that shows it. Absent for a result that nothing needs.
 *
 * @param kinds the needs that count
 */
export function neededUntil(
  { needsOf }: RecordedSession,
  kinds: ReadonlySet<NeedKind>,
): ReadonlyMap<ContentBlock, number> {
  const needed = new Map<ContentBlock, number>();
  // From the last one back: what a later answer keeps is there for the earlier ones.
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
