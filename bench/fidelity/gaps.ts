// The time between model calls, where a session has timestamps.

import { isAnswer } from '../../src/cli/replay/session-player.js';
import type { IContent } from '../../src/index.js';

/** Milliseconds since the previous model call, by call; 0 for the first and where unknown. */
export function gapsOf(entries: readonly IContent[]): readonly number[] {
  const gaps: number[] = [];
  let asked: number | undefined;
  entries.forEach((entry, index) => {
    if (!isAnswer(entry)) return;
    // A request is made when its last entry arrives. The answer's timestamp is later by the duration of the call.
    const at = entries[index - 1]?.metadata?.timestamp ?? entries[index]?.metadata?.timestamp;
    gaps.push(asked === undefined || at === undefined ? 0 : Math.max(0, at - asked));
    asked = at ?? asked;
  });
  return gaps;
}
