// Which reasoning an edit leaves without what it led to. Looks at the blocks of one ai entry, and at
// the content of those only that stand behind reasoning; edits nothing.

import { hasSubstance } from '../../content.js';
import type { ContentBlock } from '../../content.js';

/** Reasoning, and what it led to, as places among the blocks of an entry. */
export interface ReasoningStretch {
  /** Thinking blocks with nothing of substance between them, ascending; at least one. */
  readonly reasoning: readonly number[];
  /** The blocks of substance behind them up to the next reasoning, ascending; none at an entry's end. */
  readonly ledTo: readonly number[];
}

/** Lists the reasoning of an entry in its order. Blank text neither parts reasoning nor is led to. */
export function findReasoning(blocks: readonly ContentBlock[]): readonly ReasoningStretch[] {
  const stretches: { readonly reasoning: number[]; readonly ledTo: number[] }[] = [];
  blocks.forEach((block, at) => {
    const last = stretches.at(-1);
    if (block.type !== 'thinking') {
      if (last !== undefined && hasSubstance(block)) last.ledTo.push(at);
    } else if (last?.ledTo.length === 0) {
      last.reasoning.push(at);
    } else {
      stretches.push({ reasoning: [at], ledTo: [] });
    }
  });
  return stretches;
}

/**
 * Returns the places of the reasoning that goes with what is dropped: all that it led to does, and
 * that is something. Providers refuse reasoning that ends a message or stands without its item.
 */
export function orphanedReasoning(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  return findReasoning(blocks).flatMap(({ reasoning, ledTo }) =>
    ledTo.length > 0 && ledTo.every(isDropped) ? reasoning : [],
  );
}
