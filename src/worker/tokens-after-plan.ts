// Foretells what entries will hold once a plan is carried out, from the counts of their parts.

import { IntColumn, NONE } from '../shared/density/index/history-columns.js';
import type { HistoryIndex } from '../shared/density/index/history-index.js';
import { PlanCursor } from '../shared/density/plan/plan.js';
import type { DensityPlan } from '../shared/density/plan/plan.js';
import { ACTION } from '../shared/density/rules/marks.js';
import type { ResidentFacts } from './resident-facts.js';

/**
 * For every entry that the plan edits, ascending: its index, and its tokens then; of an entry that the
 * plan removes they mean nothing. Those of an entry that loses text are `NONE`: tokens of a text are not
 * the sum of those of its parts. So are those of one that loses a call which shares its reasoning with
 * calls alone.
 *
 * @param made tokens of what is put in place of results
 */
export function tokensAfterPlan(
  plan: DensityPlan,
  index: HistoryIndex,
  facts: ResidentFacts,
  made: MadeTokens,
): Int32Array {
  const pairs = new IntColumn();
  const callAt = rowFinder(index.calls);
  const responseAt = rowFinder(index.responses);
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry } = row;
    let tokens = facts.entryTokens.at(entry);
    for (; row.entry === entry; row.next()) {
      const { block, action } = row;
      const call = callAt(entry, block);
      const response = responseAt(entry, block);
      switch (action) {
        case ACTION.drop:
        case ACTION.companion: {
          const ofResponse = response === NONE ? NONE : facts.responseTokens.at(response);
          tokens = exchanged(tokens, call === NONE ? ofResponse : facts.callTokens.at(call), 0);
          break;
        }
        case ACTION.pointer: {
          const result = response === NONE ? NONE : facts.resultTokens.at(response);
          tokens = exchanged(tokens, result, made.placeholder);
          break;
        }
        case ACTION.shrink: {
          const result = response === NONE ? NONE : facts.resultTokens.at(response);
          tokens = exchanged(tokens, result, made.texts[row.start] ?? NONE);
          break;
        }
        case ACTION.excerpt:
        case ACTION.cut:
        case ACTION.shorten:
          tokens = NONE;
          break;
      }
    }
    pairs.push(entry);
    pairs.push(tokens);
  }
  return pairs.toArray();
}

/** Tokens of what a plan puts in place of results; `NONE` for what only a count can tell. */
export interface MadeTokens {
  readonly placeholder: number;
  /** By text of the plan. */
  readonly texts: readonly number[];
}

/** Tokens with another part in the place of one; `NONE` when any of them is not known. */
function exchanged(tokens: number, part: number, putInPlace: number): number {
  const isKnown = tokens !== NONE && part !== NONE && putInPlace !== NONE;
  return isKnown ? tokens - part + putInPlace : NONE;
}

/** Finds the rows at places that are asked for in ascending order; gives `NONE` where there is none. */
function rowFinder({
  entry: entries,
  block: blocks,
}: Places): (entry: number, block: number) => number {
  let row = 0;
  return (entry, block) => {
    const isBefore = (): boolean =>
      entries.at(row) < entry || (entries.at(row) === entry && blocks.at(row) < block);
    while (row < entries.length && isBefore()) row += 1;
    const isThere = row < entries.length && entries.at(row) === entry && blocks.at(row) === block;
    return isThere ? row : NONE;
  };
}

interface Places {
  readonly entry: IntColumn;
  readonly block: IntColumn;
}
