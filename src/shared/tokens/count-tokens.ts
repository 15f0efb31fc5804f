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

/** Tokens of each entry, in order. */
export function countEachEntry(contents: readonly IContent[], countText: CountText): Int32Array {
  return Int32Array.from(contents, (entry) => countEntryTokens(entry, countText));
}

/** The tokens of an entry and of its parts. */
export interface EntryMeasure {
  /** The same as `countEntryTokens`. */
  readonly tokens: number;
  /** By block: the tokens that the entry loses if the block is removed. */
  readonly blocks: readonly number[];
  /** By block: the tokens of a tool's result, including its media; 0 for other blocks. */
  readonly results: readonly number[];
}

/** Counts an entry block by block, so that its tokens are known after a block or a result is removed. */
export function measureEntry(entry: IContent, countText: CountText): EntryMeasure {
  const blocks: number[] = [];
  const results: number[] = [];
  let tokens = ENTRY_OVERHEAD_TOKENS;
  for (const block of entry.blocks) {
    const result = measureResult(block, countText);
    const all = result + measureRest(block, countText);
    blocks.push(all);
    results.push(result);
    tokens += all;
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
