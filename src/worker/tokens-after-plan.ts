// Foretells what entries will hold once a plan is carried out, from the counts of their parts.

import { NONE } from '../shared/density/history-columns.js';
import type { HistoryIndex } from '../shared/density/history-index.js';
import { IntColumn } from '../shared/density/int-column.js';
import type { DensityPlan } from '../shared/density/plan.js';
import type { ResidentFacts } from './resident-facts.js';

/**
 * For every entry that the plan edits, ascending: its index, and its tokens then. Those of an entry
 * that loses text are `NONE`: tokens of a text are not the sum of those of its parts.
 */
export function tokensAfterPlan(
  plan: DensityPlan,
  index: HistoryIndex,
  facts: ResidentFacts,
  pointerTokens: number,
): Int32Array {
  const after = new Map<number, number>();
  // A pointer may have more tokens than its result: what is saved can be -1 and still be known.
  const take = (entry: number, part: number, putInPlace = 0): void => {
    const before = after.get(entry) ?? facts.entryTokens.at(entry);
    after.set(entry, before === NONE || part === NONE ? NONE : before - part + putInPlace);
  };
  for (let at = 0; at < plan.drops.length; at += 2) {
    const entry = plan.drops[at] ?? NONE;
    take(entry, blockTokens(entry, plan.drops[at + 1] ?? NONE, index, facts));
  }
  for (let at = 0; at < plan.pointers.length; at += 2) {
    const entry = plan.pointers[at] ?? NONE;
    const row = rowOf(index, 'response', entry, plan.pointers[at + 1] ?? NONE);
    take(entry, row === NONE ? NONE : facts.resultTokens.at(row), pointerTokens);
  }
  for (let at = 0; at < plan.cuts.length; at += 4) after.set(plan.cuts[at] ?? NONE, NONE);
  const pairs = new IntColumn();
  for (const [entry, tokens] of [...after].sort(([a], [b]) => a - b)) {
    pairs.push(entry);
    pairs.push(tokens);
  }
  return pairs.toArray();
}

function blockTokens(
  entry: number,
  block: number,
  index: HistoryIndex,
  facts: ResidentFacts,
): number {
  const call = rowOf(index, 'call', entry, block);
  if (call !== NONE) return facts.callTokens.at(call);
  const response = rowOf(index, 'response', entry, block);
  return response === NONE ? NONE : facts.responseTokens.at(response);
}

/** The row of the call or response at a place, or `NONE`. */
function rowOf(
  index: HistoryIndex,
  table: 'call' | 'response',
  entry: number,
  block: number,
): number {
  const rows = index[`${table}s`];
  for (let row = index.rows[table].at(entry); row < rows.length; row += 1) {
    if (rows.entry.at(row) !== entry) return NONE;
    if (rows.block.at(row) === block) return row;
  }
  return NONE;
}
