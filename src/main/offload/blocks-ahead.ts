// Builds the replacement blocks of a plan as soon as the plan arrives, and has them counted, in small steps, so that the
// preflight that lands it need not wait. Edits nothing; blocks that never land were built in vain, once.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { placeholderOf } from '../../shared/density.js';
import type { PassSettings } from '../../shared/density.js';
import { excerptedBlock, shortenedBlock } from '../../shared/density/plan/materialize.js';
import { PlanCursor, pointerOf, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { ENTRY_OVERHEAD_TOKENS } from '../../shared/tokens/content-text.js';
import { nextTurn } from '../waiting/event-loop-turn.js';

/** Longer plans are usually held by the edit gate; scanning them after every turn would cost too much. */
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

  /** Tokens of an entry that consists of such blocks only; `undefined` if any is not counted. */
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
   * Builds a plan's blocks, until a newer plan arrives. Never rejects: what is not counted here is counted on demand.
   *
   * @param entries the live history of the plan
   * @param isCurrent whether the history still is the one that the plan was made for
   */
  async make(
    plan: DensityPlan,
    settings: PassSettings,
    entries: readonly IContent[],
    isCurrent: () => boolean,
  ): Promise<void> {
    this.#newest = plan;
    // Other placeholders depend on the call.
    if (placeholderOf(settings) !== 'pointer' || plan.length > MAX_ROWS * ROW_LENGTH) return;
    const uncounted: ContentBlock[] = [];
    let made = 0;
    for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
      const make = blockBuilder(row, entries[row.entry]?.blocks[row.block]);
      if (make === undefined) continue;
      // Yield first: a preflight may be waiting for the plan, to land it.
      if (made % PER_TURN === 0) await nextTurn();
      if (this.#newest !== plan || !isCurrent()) return;
      made += 1;
      const block = make();
      if (!this.#tokens.has(block)) uncounted.push(block);
    }
    if (uncounted.length === 0) return;
    try {
      const counts = await this.#count(
        uncounted.map((block) => ({ speaker: 'tool', blocks: [block] })),
      );
      uncounted.forEach((block, at) => {
        const tokens = counts[at];
        if (tokens !== undefined) this.#tokens.set(block, tokens - ENTRY_OVERHEAD_TOKENS);
      });
    } catch {
      // The pool has reported the failure.
    }
  }
}

/**
 * Returns a function that builds the block that a row leaves; `undefined` if its tokens are predicted anyway, or cannot be
 * known.
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
