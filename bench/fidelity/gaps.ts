// How long each model call came after the one before, as far as a session has timestamps.

import { isAnswer } from '../../src/cli/replay/session-player.js';
import type { IContent } from '../../src/index.js';

/** By model call, milliseconds since the one before; 0 where that is not known, and for the first. */
export function gapsOf(entries: readonly IContent[]): readonly number[] {
  const gaps: number[] = [];
  let asked: number | undefined;
  entries.forEach((entry, index) => {
    if (!isAnswer(entry)) return;
    // A request is made when the last thing that it holds came; the answer is later by what it took.
    const at = entries[index - 1]?.metadata?.timestamp ?? entries[index]?.metadata?.timestamp;
    gaps.push(asked === undefined || at === undefined ? 0 : Math.max(0, at - asked));
    asked = at ?? asked;
  });
  return gaps;
}
