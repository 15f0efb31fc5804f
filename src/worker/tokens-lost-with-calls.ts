// What an entry loses when a call leaves it, as far as that can be told of each call alone: reasoning
// goes with what it led to, and what is bound to a call with that. Reads no payload.

import { hasSubstance } from '../shared/content.js';
import type { ContentBlock } from '../shared/content.js';
import { NONE } from '../shared/density/index/history-columns.js';
import { findReasoning, isBoundToCall } from '../shared/density/plan/materialize.js';

/**
 * Returns, by block, what an ai entry loses when the call there is dropped and the entry stays: the
 * tokens of the call, and those of the reasoning that led to it alone. `NONE` where reasoning led to
 * several calls and to nothing else, for it goes when all of them do; and where anything is bound to
 * a call of the entry.
 *
 * @param tokens tokens by block
 */
export function tokensLostWithCalls(
  blocks: readonly ContentBlock[],
  tokens: readonly number[],
): readonly number[] {
  if (bindsToOwnCall(blocks)) return blocks.map(() => NONE);
  if (!blocks.some(({ type }) => type === 'thinking')) return tokens;
  const lost = [...tokens];
  for (const { reasoning, ledTo } of findReasoning(blocks)) {
    if (!ledTo.every((at) => blocks[at]?.type === 'tool_call')) continue;
    // An entry that loses all that it says goes as a whole.
    if (ledTo.length === blocks.filter(hasSubstance).length) continue;
    const [call, ...others] = ledTo;
    if (call === undefined) continue;
    if (others.length > 0) for (const at of ledTo) lost[at] = NONE;
    else for (const at of reasoning) lost[call] = (lost[call] ?? 0) + (tokens[at] ?? 0);
  }
  return lost;
}

function bindsToOwnCall(blocks: readonly ContentBlock[]): boolean {
  return blocks.some(
    (block) =>
      isBoundToCall(block) &&
      blocks.some((call) => call.type === 'tool_call' && call.id === block.callId),
  );
}
