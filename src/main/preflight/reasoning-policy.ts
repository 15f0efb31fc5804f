// What becomes of reasoning when an edit lands before it: providers bind a thinking block to all that
// stands before it, and refuse it once that was edited. Pure: makes edits, and applies none.

import { hasSubstance } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';
import { isEmptyDensityResult } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import type { Place } from './found-edit.js';

/**
 * What becomes of reasoning. `keep`: it stays, whatever is edited before it. `strip-after-first-edit`:
 * an edit takes away the thinking blocks behind the first place that it changes. `forbid-edits`:
 * density edits land behind the last thinking block only; compressing and fitting cannot be put off,
 * and strip.
 */
export type ReasoningPolicy = 'keep' | 'strip-after-first-edit' | 'forbid-edits';

/** Returns the lowest index that a result edits; `Infinity` when it edits nothing. */
export function firstEditedIndex({ removals, replacements }: DensityResult): number {
  let first = Infinity;
  for (const index of removals) first = Math.min(first, index);
  for (const index of replacements.keys()) first = Math.min(first, index);
  return first;
}

/** Returns the index at which two lists begin to differ: the length of both when they do not. */
export function firstDifference<Item>(a: readonly Item[], b: readonly Item[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/** Whether any of the entries from an index on holds a thinking block. */
export function holdsReasoning(history: readonly IContent[], from: number): boolean {
  for (let index = from; index < history.length; index += 1) {
    if (history[index]?.blocks.some(isThinking) === true) return true;
  }
  return false;
}

/** Returns the place behind the last thinking block of the entries from an index on, or that index. */
export function placeBehindReasoning(history: readonly IContent[], from: number): Place {
  for (let entry = history.length - 1; entry >= from; entry -= 1) {
    const block = history[entry]?.blocks.findLastIndex(isThinking) ?? -1;
    if (block >= 0) return { entry, block: block + 1 };
  }
  return { entry: from, block: 0 };
}

/**
 * Returns the edit of a history that also takes away all thinking blocks behind the first place which it
 * changes; the same object when there are none. An entry that keeps nothing of substance is removed.
 */
export function stripReasoning(result: DensityResult, history: readonly IContent[]): DensityResult {
  if (isEmptyDensityResult(result)) return result;
  const entry = firstEditedIndex(result);
  const before = history[entry]?.blocks ?? [];
  const after = result.replacements.get(entry)?.blocks ?? [];
  return stripBehind(result, history, { entry, block: firstDifference(after, before) });
}

/** As `stripReasoning`, of an edit that changes what stands before a place. */
export function stripBehind(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
): DensityResult {
  const removed = new Set(result.removals);
  const replacements = new Map(result.replacements);
  let isStripped = false;
  for (let index = place.entry; index < history.length; index += 1) {
    const entry = replacements.get(index) ?? history[index];
    if (entry === undefined || removed.has(index)) continue;
    const stripped = withoutReasoning(entry, index === place.entry ? place.block : 0);
    if (stripped === entry) continue;
    isStripped = true;
    replacements.delete(index);
    if (stripped === null) removed.add(index);
    else replacements.set(index, stripped);
  }
  if (!isStripped) return result;
  return { ...result, removals: [...removed].sort((a, b) => a - b), replacements };
}

/**
 * Returns what a compression makes of a history without the thinking blocks behind the first entry
 * which that changes, found by identity from the start; the same list when there are none.
 */
export function stripRewritten(
  rewritten: readonly IContent[],
  former: readonly IContent[],
): readonly IContent[] {
  const first = firstDifference(rewritten, former);
  if (!holdsReasoning(rewritten, first)) return rewritten;
  const behind = rewritten.slice(first).map((entry) => withoutReasoning(entry, 0));
  return [...rewritten.slice(0, first), ...behind.filter((entry) => entry !== null)];
}

/** Returns `null` when nothing of substance is left; the entry itself when it has no thinking there. */
function withoutReasoning(entry: IContent, fromBlock: number): IContent | null {
  const blocks = entry.blocks.filter((block, at) => at < fromBlock || !isThinking(block));
  if (blocks.length === entry.blocks.length) return entry;
  return blocks.some(hasSubstance) ? { ...entry, blocks } : null;
}

function isThinking({ type }: ContentBlock): boolean {
  return type === 'thinking';
}
