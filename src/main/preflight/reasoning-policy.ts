// What happens to reasoning when an edit lands in front of it: providers bind a thinking block to its prefix, and refuse it if the
// prefix has changed. Pure: makes edits, applies none.

import { hasSubstance, isCompaction } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';
import { firstEditedIndex } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';

/**
 * What happens to reasoning. `keep`: it stays, whatever is edited in front of it. `strip-after-first-edit`: an edit removes the
 * thinking blocks behind the first place it changes, except for items of OpenAI's Responses API. `forbid-edits`: density edits
 * land only behind the last thinking block; compressing and fitting cannot be delayed, and strip.
 */
export type ReasoningPolicy = 'keep' | 'strip-after-first-edit' | 'forbid-edits';

/** Returns the first index at which two lists differ; their common length if one is a prefix of the other. Neither holds `undefined`. */
export function firstDifference<Item>(a: readonly Item[], b: readonly Item[]): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Whether any entry from an index on holds a thinking block that would be stripped. */
export function holdsReasoning(history: readonly IContent[], from: number): boolean {
  for (let index = from; index < history.length; index += 1) {
    if (history[index]?.blocks.some(isStripped) === true) return true;
  }
  return false;
}

/** A place in a history: in front of this block of this entry. */
export interface Place {
  readonly entry: number;
  readonly block: number;
}

/** Returns the place behind the last thinking block from entry `from` on, or the start of that entry if there is none. */
export function placeBehindReasoning(history: readonly IContent[], from: number): Place {
  for (let entry = history.length - 1; entry >= from; entry -= 1) {
    const block = history[entry]?.blocks.findLastIndex(({ type }) => type === 'thinking') ?? -1;
    if (block >= 0) return { entry, block: block + 1 };
  }
  return { entry: from, block: 0 };
}

/**
 * Adds to an edit the removal of all thinking blocks behind the first place it changes; the same object if there are none. An
 * entry that has no substance left is removed.
 */
export function stripReasoning(result: DensityResult, history: readonly IContent[]): DensityResult {
  const entry = firstEditedIndex(result);
  const before = history[entry]?.blocks ?? [];
  const after = result.replacements.get(entry)?.blocks ?? [];
  return stripBehind(result, history, { entry, block: firstDifference(after, before) });
}

/** Like `stripReasoning`, for the thinking blocks behind a given place. */
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
    if (stripped !== null) replacements.set(index, stripped);
    else {
      replacements.delete(index);
      removed.add(index);
    }
  }
  if (!isStripped) return result;
  return { ...result, removals: [...removed].sort((a, b) => a - b), replacements };
}

/**
 * Removes from a compressed history the thinking blocks behind the first changed entry, which is found by identity; the same
 * list if there are none.
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

/** Strips an entry from a block on. Returns `null` if nothing of substance is left; the same entry if nothing was stripped. */
function withoutReasoning(entry: IContent, fromBlock: number): IContent | null {
  const blocks = entry.blocks.filter((block, at) => at < fromBlock || !isStripped(block));
  if (blocks.length === entry.blocks.length) return entry;
  return blocks.some(hasSubstance) ? { ...entry, blocks } : null;
}

/** The signature of an item of OpenAI's Responses API: its id (`rs_…`) from adapters, or the whole item as JSON from pi. */
const OPENAI_ITEM = /^(?:rs_|\{)/;

/**
 * Whether an edit in front of a block strips it. A reasoning item of OpenAI stays: it is not sent to Claude, and once the
 * conversation returns to OpenAI, a call without the item that led to it is refused.
 */
export function isStripped(block: ContentBlock): boolean {
  return block.type === 'thinking' && !OPENAI_ITEM.test(block.signature ?? '');
}

/**
 * Whether blocks begin with reasoning that Claude is sent, which is signed, possibly behind a compaction by the provider. An edit that
 * leaves something of such an entry leaves it so.
 */
export function beginsWithReasoning(blocks: readonly ContentBlock[] = []): boolean {
  const first = blocks.find((block) =>
    block.type === 'thinking'
      ? isStripped(block) && (block.signature ?? block.encryptedContent) !== undefined
      : hasSubstance(block) && !isCompaction(block),
  );
  return first?.type === 'thinking';
}
