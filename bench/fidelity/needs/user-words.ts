// Needs of the user's words: what a user wrote is valid until the context ends, so it is checked there.

import { isAnswer } from '../../../src/cli/replay/session-player.js';
import type { IContent } from '../../../src/index.js';
import { shownLines } from '../replaced-texts.js';
import type { Need } from './need.js';
import type { ShownBefore } from './shown-before.js';

/** One need for each user message that an answer follows, except summaries and messages added by the host. */
export function userWordNeeds(entries: readonly IContent[], shown: ShownBefore): readonly Need[] {
  const last = entries.findLastIndex(isAnswer);
  return entries.slice(0, Math.max(0, last)).flatMap(({ speaker, blocks, metadata }) => {
    const isUser = speaker === 'human' && metadata?.isSummary !== true;
    if (!isUser || metadata?.synthetic === true) return [];
    const lines = blocks.flatMap((block) => (block.type === 'text' ? shownLines(block.text) : []));
    if (lines.length === 0) return [];
    const shownBy = lines.map((line) => shown.holders(line, last));
    const subject = { entry: last, callId: '', tool: '', file: '' };
    return [{ kind: 'words' as const, ...subject, weight: 1, lines, shownBy }];
  });
}
