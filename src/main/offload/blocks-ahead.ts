// Makes what a plan puts in place of results and calls as soon as that is there, and has it counted, bit by bit: so that a
// preflight in which it lands finds it made and counted. Edits nothing; what does not land was made in vain, once.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { placeholderOf } from '../../shared/density.js';
import type { PassSettings } from '../../shared/density.js';
import { excerptedBlock, shortenedBlock } from '../../shared/density/plan/materialize.js';
import { PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { ENTRY_OVERHEAD_TOKENS } from '../../shared/tokens/content-text.js';
import { nextTurn } from '../waiting/event-loop-turn.js';

/** A longer plan is one that is held: to go through it after each turn would be felt. */
const MAX_ROWS = 256;
/** Blocks that are made in a turn of the event loop: about half a millisecond. */
const PER_TURN = 16;

/** Excerpts and shortened calls of one history, and how many tokens they have. */
export class BlocksAhead {
  readonly #count: (entries: readonly IContent[]) => Promise<readonly number[]>;
  readonly #tokens = new WeakMap<ContentBlock, number>();
  #newest: DensityPlan | undefined;

  constructor(count: (entries: readonly IContent[]) => Promise<readonly number[]>) {
    this.#count = count;
  }

  /** Tokens of an entry that consists of such blocks alone; `undefined` when any of them is not counted. */
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
   * Makes those of a plan, until there is a newer one. Never rejects: what is not counted here is counted when it is asked for.
   *
   * @param entries the history that it is for, as long as nothing else is said
   */
  async make(
    plan: DensityPlan,
    settings: PassSettings,
    entries: readonly IContent[],
  ): Promise<void> {
    this.#newest = plan;
    // Other placeholders tell of the call.
    if (placeholderOf(settings) !== 'pointer' || plan.length > MAX_ROWS * ROW_LENGTH) return;
    const uncounted: ContentBlock[] = [];
    let made = 0;
    for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
      const make = makerOf(row.action, entries[row.entry]?.blocks[row.block]);
      if (make === undefined) continue;
      // A preflight that has waited for the plan comes first, and may have it land.
      if (made % PER_TURN === 0) await nextTurn();
      if (this.#newest !== plan) return;
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
      // The pool has told what it failed at.
    }
  }

  /** Makes no more of the plan that it is at: the history is another one. */
  stop(): void {
    this.#newest = undefined;
  }
}

/** Returns what makes the block that a row leaves; `undefined` where its tokens are foretold, or nobody can tell. */
function makerOf(
  action: number,
  block: ContentBlock | undefined,
): (() => ContentBlock) | undefined {
  if (action === ACTION.excerpt && block?.type === 'tool_response') {
    return () => excerptedBlock(block);
  }
  if (action === ACTION.shorten && block?.type === 'tool_call') return () => shortenedBlock(block);
  return undefined;
}
