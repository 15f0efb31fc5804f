// Counts the tokens of entries, text by text. Workers and the main thread share this code, so their numbers are equal.

import { withResult } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import {
  blockTexts,
  ENTRY_OVERHEAD_TOKENS,
  fixedBlockTokens,
  fixedEntryTokens,
  payloadText,
} from './content-text.js';

/** Counts the tokens of one text. */
export type CountText = (text: string) => number;

/** The texts of an entry that must be tokenized. */
export function* entryTexts(entry: IContent): Generator<string, void, undefined> {
  for (const block of entry.blocks) yield* blockTexts(block);
}

/** Tokens of one entry: those of its texts plus `fixedEntryTokens`. */
export function countEntryTokens(entry: IContent, countText: CountText): number {
  let tokens = fixedEntryTokens(entry);
  for (const text of entryTexts(entry)) tokens += countText(text);
  return tokens;
}

/** The tokens of entries and of their parts. */
export interface Measures {
  /** By entry, the same as `countEntryTokens`; -1 if unknown. */
  readonly tokens: Int32Array;
  /** By block of all entries: the tokens that its entry loses if the block is removed; -1 if the entry was counted elsewhere. */
  readonly blocks: Int32Array;
  /** By block: the tokens of a tool's result, including its media; 0 for other blocks. -1 as in `blocks`. */
  readonly results: Int32Array;
}

/**
 * Counts entries block by block, so that their tokens are known after a block or a result is removed.
 *
 * @param countText without it, nothing is counted
 * @param knownTokens tokens per entry, or -1 if it must be counted @default all must
 */
export function measureEntries(
  contents: readonly IContent[],
  countText: CountText | undefined,
  knownTokens: Int32Array = new Int32Array(contents.length).fill(-1),
): Measures {
  const tokens = Int32Array.from(knownTokens);
  const length = contents.reduce((sum, entry) => sum + entry.blocks.length, 0);
  const [blocks, results] = [new Int32Array(length).fill(-1), new Int32Array(length).fill(-1)];
  let next = 0;
  for (const [at, entry] of contents.entries()) {
    if (countText === undefined || tokens[at] !== -1) {
      next += entry.blocks.length;
      continue;
    }
    let all = ENTRY_OVERHEAD_TOKENS;
    for (const block of entry.blocks) {
      const result = measureResult(block, countText);
      const whole = result + measureRest(block, countText);
      blocks[next] = whole;
      results[next] = result;
      next += 1;
      all += whole;
    }
    tokens[at] = all;
  }
  return { tokens, blocks, results };
}

function measureResult(block: ContentBlock, countText: CountText): number {
  if (block.type !== 'tool_response') return 0;
  const text = payloadText(block.result);
  return (text === '' ? 0 : countText(text)) + (block.mediaTokens ?? 0);
}

/** Tokens of a block without its tool result. */
function measureRest(block: ContentBlock, countText: CountText): number {
  const rest = block.type === 'tool_response' ? withResult(block, undefined) : block;
  let tokens = fixedBlockTokens(rest);
  for (const text of blockTexts(rest)) tokens += countText(text);
  return tokens;
}
