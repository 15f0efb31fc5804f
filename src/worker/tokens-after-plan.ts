// Foretells what entries will hold once a plan is carried out, from the counts of their parts.

import { IntColumn, NONE } from '../shared/density/index/history-columns.js';
import type { HistoryIndex } from '../shared/density/index/history-index.js';
import { PlanCursor } from '../shared/density/plan/plan.js';
import type { DensityPlan } from '../shared/density/plan/plan.js';
import { ACTION } from '../shared/density/rules/marks.js';
import type { ResidentFacts } from './resident-facts.js';

/**
 * The `tokensAfter` of a planned pass; of an entry that the plan removes they mean nothing. Those of an entry that loses text are
 * `NONE`: tokens of a text are not the sum of those of its parts. So are those of one that loses a call which shares its
 * reasoning with calls alone. Excerpts, and calls that are shortened, are made where their texts are, and are left to a count.
 *
 * @param made tokens of what is put in place of results
 */
export function tokensAfterPlan(
  plan: DensityPlan,
  index: HistoryIndex,
  facts: ResidentFacts,
  made: MadeTokens,
): Int32Array {
  const rows = new IntColumn();
  const callAt = rowFinder(index.calls);
  const responseAt = rowFinder(index.responses);
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry } = row;
    let tokens = facts.entryTokens.at(entry);
    let unchanged = tokens;
    let isLeftToCount = false;
    for (; row.entry === entry; row.next()) {
      const { block, action } = row;
      const call = callAt(entry, block);
      const response = responseAt(entry, block);
      const changed =
        call === NONE ? tokensAt(facts.responseTokens, response) : facts.callTokens.at(call);
      if (action !== ACTION.ceded) unchanged = exchanged(unchanged, changed, 0);
      switch (action) {
        case ACTION.drop:
        case ACTION.companion:
          tokens = exchanged(tokens, changed, 0);
          break;
        case ACTION.pointer:
          tokens = exchanged(tokens, tokensAt(facts.resultTokens, response), made.placeholder);
          break;
        case ACTION.shrink: {
          const text = made.texts[row.start] ?? NONE;
          tokens = exchanged(tokens, tokensAt(facts.resultTokens, response), text);
          break;
        }
        case ACTION.excerpt:
        case ACTION.shorten:
          isLeftToCount = true;
          break;
        case ACTION.cut:
          tokens = NONE;
          unchanged = NONE;
          break;
      }
    }
    rows.push(entry);
    rows.push(isLeftToCount ? unchanged : tokens);
    rows.push(isLeftToCount ? 1 : 0);
  }
  return rows.toArray();
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

function tokensAt(column: IntColumn, row: number): number {
  return row === NONE ? NONE : column.at(row);
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
