// Builds the replacement blocks of a plan as soon as it arrives, and has them counted, in small steps, so that the preflight that
// applies the plan need not wait. Edits nothing. Blocks that are never applied were built in vain, but only once.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { placeholderOf } from '../../shared/density.js';
import type { PassSettings } from '../../shared/density.js';
import { excerptedBlock, shortenedBlock } from '../../shared/density/plan/materialize.js';
import { PlanCursor, pointerOf, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { ENTRY_OVERHEAD_TOKENS } from '../../shared/tokens/content-text.js';
import { nextTurn } from '../waiting/event-loop-turn.js';

/** Longer plans are skipped: the edit gate usually holds them back, and scanning them after every turn would cost too much. */
const MAX_ROWS = 256;
/** Blocks built per turn of the event loop: about half a millisecond. */
const PER_TURN = 16;

/** Excerpts and shortened calls of one history, and their token counts. */
export class BlocksAhead {
  readonly #count: (entries: readonly IContent[]) => Promise<readonly number[]>;
  readonly #tokens = new WeakMap<ContentBlock, number>();
  #newest: DensityPlan | undefined;

  constructor(count: (entries: readonly IContent[]) => Promise<readonly number[]>) {
    this.#count = count;
  }

  /** Returns the tokens of an entry that consists of blocks built here; `undefined` if any block is not counted. */
  tokensOf({ blocks }: IContent): number | undefined {
    let sum = ENTRY_OVERHEAD_TOKENS;
    for (const block of blocks) {
      const tokens = this.#tokens.get(block);
      if (tokens === undefined) return undefined;
      sum += tokens;
    }
    return sum;
  }

  /**
   * Builds and counts a plan's blocks, until a newer plan arrives. Never rejects: blocks that are not counted here are counted on
   * demand.
   *
   * @param entries the live history that the plan edits
   * @param isCurrent whether the history is still in the state that the plan was made for
   */
  async make(
    plan: DensityPlan,
    settings: PassSettings,
    entries: readonly IContent[],
    isCurrent: () => boolean,
  ): Promise<void> {
    this.#newest = plan;
    // Other placeholders than the pointer depend on the call, and cannot be built here.
    if (placeholderOf(settings) !== 'pointer' || plan.length > MAX_ROWS * ROW_LENGTH) return;
    const uncounted: ContentBlock[] = [];
    let made = 0;
    try {
      for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
        const make = blockBuilder(row, entries[row.entry]?.blocks[row.block]);
        if (make === undefined) continue;
        // Yield first: a preflight may be waiting to apply the plan.
        if (made % PER_TURN === 0) await nextTurn();
        if (this.#newest !== plan || !isCurrent()) return;
        made += 1;
        const block = make();
        if (!this.#tokens.has(block)) uncounted.push(block);
      }
      if (uncounted.length === 0) return;
      const counts = await this.#count(
        uncounted.map((block) => ({ speaker: 'tool', blocks: [block] })),
      );
      uncounted.forEach((block, at) => {
        const tokens = counts[at];
        if (tokens !== undefined) this.#tokens.set(block, tokens - ENTRY_OVERHEAD_TOKENS);
      });
    } catch {
      // Ignored: the pool has reported a failed count, and a preflight reports an entry that the host has changed.
    }
  }
}

/**
 * Returns a function that builds the replacement block of a plan's row; `undefined` if the plan predicts its tokens anyway, or if
 * they cannot be known.
 */
function blockBuilder(
  row: PlanCursor,
  block: ContentBlock | undefined,
): (() => ContentBlock) | undefined {
  const { action } = row;
  if (action === ACTION.excerpt && block?.type === 'tool_response') {
    const pointer = pointerOf(row);
    return () => excerptedBlock(block, pointer);
  }
  if (action === ACTION.shorten && block?.type === 'tool_call') return () => shortenedBlock(block);
  return undefined;
}
