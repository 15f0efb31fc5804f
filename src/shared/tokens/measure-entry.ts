// Counts an entry block by block, so that it is known what it will hold once a block or a result is gone.

import { PRUNED_POINTER } from '../density.js';
import { withResult } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import {
  blockTexts,
  ENTRY_OVERHEAD_TOKENS,
  fixedBlockTokens,
  payloadText,
} from './content-text.js';
import type { CountText } from './count-tokens.js';

/** The tokens of an entry and of its parts. */
export interface EntryMeasure {
  /** All of it; what `countEntryTokens` gives. */
  readonly tokens: number;
  /** By block; what the entry loses when it goes. */
  readonly blocks: readonly number[];
  /** By block, what of it is the result of a tool, media in it included; 0 for other blocks. */
  readonly results: readonly number[];
}

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

/** Tokens of the pointer that takes the place of a result. */
export function pointerTokens(countText: CountText): number {
  return countText(PRUNED_POINTER);
}

function measureResult(block: ContentBlock, countText: CountText): number {
  if (block.type !== 'tool_response') return 0;
  const text = payloadText(block.result);
  return (text === '' ? 0 : countText(text)) + (block.mediaTokens ?? 0);
}

/** What a block holds besides the result of a tool. */
function measureRest(block: ContentBlock, countText: CountText): number {
  const rest = block.type === 'tool_response' ? withResult(block, undefined) : block;
  let tokens = fixedBlockTokens(rest);
  for (const text of blockTexts(rest)) tokens += countText(text);
  return tokens;
}
