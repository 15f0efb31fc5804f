// Foretells what entries will hold once a plan is carried out, from the counts of their parts.

import { NONE } from '../shared/density/index/history-columns.js';
import type { HistoryIndex } from '../shared/density/index/history-index.js';
import { IntColumn } from '../shared/density/index/int-column.js';
import type { DensityPlan } from '../shared/density/plan/plan.js';
import type { ResidentFacts } from './resident-facts.js';

/**
 * For every entry that the plan edits, ascending: its index, and its tokens then; of an entry that the
 * plan removes they mean nothing. Those of an entry that loses text are `NONE`: tokens of a text are not
 * the sum of those of its parts. So are those of one that loses a call which shares its reasoning with
 * calls alone.
 *
 * @param placeholderTokens tokens of what is put in place of a result, or `NONE`
 */
export function tokensAfterPlan(
  plan: DensityPlan,
  index: HistoryIndex,
  facts: ResidentFacts,
  placeholderTokens: number,
): Int32Array {
  const pairs = new IntColumn();
  const callAt = rowFinder(index.calls);
  const droppedAt = rowFinder(index.responses);
  const prunedAt = rowFinder(index.responses);
  let drop = 0;
  let pointer = 0;
  let excerpt = 0;
  let cut = 0;
  for (;;) {
    const entry = Math.min(
      plan.drops[drop] ?? Infinity,
      plan.pointers[pointer] ?? Infinity,
      plan.excerpts[excerpt] ?? Infinity,
      plan.cuts[cut] ?? Infinity,
    );
    if (entry === Infinity) return pairs.toArray();
    let tokens = facts.entryTokens.at(entry);
    for (; plan.drops[drop] === entry; drop += 2) {
      const block = plan.drops[drop + 1] ?? NONE;
      const call = callAt(entry, block);
      const response = droppedAt(entry, block);
      const ofResponse = response === NONE ? NONE : facts.responseTokens.at(response);
      tokens = exchanged(tokens, call === NONE ? ofResponse : facts.callTokens.at(call), 0);
    }
    for (; plan.pointers[pointer] === entry; pointer += 2) {
      const response = prunedAt(entry, plan.pointers[pointer + 1] ?? NONE);
      const result = response === NONE ? NONE : facts.resultTokens.at(response);
      tokens = exchanged(tokens, result, placeholderTokens);
    }
    for (; plan.excerpts[excerpt] === entry; excerpt += 2) tokens = NONE;
    for (; plan.cuts[cut] === entry; cut += 4) tokens = NONE;
    pairs.push(entry);
    pairs.push(tokens);
  }
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
