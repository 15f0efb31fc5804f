// What a pruner that knows the future would keep. Greedy, so that the least that must be kept is near
// to it and not always it.

import type { ContentBlock } from '../../src/index.js';
import type { RecordedSession } from './recorded-session.js';

/**
 * By result, the entry of the last edit that needs it: for a line which neither text nor a call shows, nor a
 * result that is needed then anyway, the newest result that shows it. Absent for a result that no edit needs.
 */
export function neededUntil(session: RecordedSession): ReadonlyMap<ContentBlock, number> {
  const { transcript, edits, lines } = session;
  const entryOf = new Map<ContentBlock, number>();
  transcript.entries.forEach(({ blocks }, index) => {
    for (const block of blocks) if (!entryOf.has(block)) entryOf.set(block, index);
  });
  const needed = new Map<ContentBlock, number>();
  // From the last one back: what a later edit keeps is there for the earlier ones.
  for (const edit of edits.toReversed()) {
    for (const line of edit.lines) {
      const shown = lines
        .holders(line)
        .filter((block) => (entryOf.get(block) ?? Infinity) < edit.entry);
      if (shown.some((block) => block.type !== 'tool_response' || needed.has(block))) continue;
      const newest = shown.at(-1);
      if (newest !== undefined) needed.set(newest, edit.entry);
    }
  }
  return needed;
}
