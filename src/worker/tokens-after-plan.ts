// Predicts the tokens that entries have after a plan was applied, from the counts of their parts.

import { NONE, IntColumn } from '../shared/density/index/history-columns.js';
import type { HistoryIndex } from '../shared/density/index/history-index.js';
import { rowAt } from '../shared/density/index/stretches.js';
import { PlanCursor } from '../shared/density/plan/plan.js';
import type { DensityPlan } from '../shared/density/plan/plan.js';
import { ACTION } from '../shared/density/rules/marks.js';
import type { ResidentFacts } from './resident-facts.js';

/**
 * Returns `PlannedPass.tokensAfter`. Its numbers mean nothing for entries that the plan removes. Tokens are `NONE` for an entry that
 * loses part of a text, because the tokens of a text are not the sum of those of its parts, or a call that shares its reasoning only
 * with other calls. Excerpts and shortened calls are made on the thread that has the texts, and must be counted there.
 *
 * @param made tokens of the texts that replace results
 */
export function tokensAfterPlan(
  plan: DensityPlan,
  index: HistoryIndex,
  facts: ResidentFacts,
  made: MadeTokens,
): Int32Array {
  const rows = new IntColumn();
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry } = row;
    let tokens = facts.entryTokens.at(entry);
    let unchanged = tokens;
    let mustBeCounted = false;
    for (; row.entry === entry; row.next()) {
      const { block, action } = row;
      const call = rowAt(index.calls, entry, block);
      const response = rowAt(index.responses, entry, block);
      const changed =
        call === NONE ? tokensAt(facts.responseTokens, response) : facts.callTokens.at(call);
      unchanged = replacePart(unchanged, changed, 0);
      switch (action) {
        case ACTION.drop:
        case ACTION.companion:
          tokens = replacePart(tokens, changed, 0);
          break;
        case ACTION.pointer:
        case ACTION.shrink: {
          const isShrunk = action === ACTION.shrink;
          const text = isShrunk ? (made.texts[row.start] ?? NONE) : made.placeholder(row);
          tokens = replacePart(tokens, tokensAt(facts.resultTokens, response), text);
          break;
        }
        case ACTION.excerpt:
        case ACTION.shorten:
          mustBeCounted = true;
          break;
        case ACTION.cut:
          tokens = NONE;
          unchanged = NONE;
          break;
      }
    }
    rows.push(entry);
    rows.push(mustBeCounted ? unchanged : tokens);
    rows.push(mustBeCounted ? 1 : 0);
  }
  return rows.toArray();
}

/** Tokens of the texts with which a plan replaces results; `NONE` if they must be counted. */
export interface MadeTokens {
  readonly placeholder: (row: PlanCursor) => number;
  /** By index of a text in the plan's texts. */
  readonly texts: readonly number[];
}

/** Returns the tokens after a part was replaced; `NONE` if any of the numbers is unknown. */
function replacePart(tokens: number, part: number, putInPlace: number): number {
  const isKnown = tokens !== NONE && part !== NONE && putInPlace !== NONE;
  return isKnown ? tokens - part + putInPlace : NONE;
}

function tokensAt(column: IntColumn, row: number): number {
  return row === NONE ? NONE : column.at(row);
}
