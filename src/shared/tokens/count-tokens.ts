// Counts the tokens of entries text by text. The same code runs in the worker and on the calling
// thread, so that both give equal numbers.

import type { IContent } from '../content.js';
import { blockTexts, fixedEntryTokens } from './content-text.js';

/** Counts the tokens of one text. */
export type CountText = (text: string) => number;

/** The texts of an entry: all that has to be encoded to count it. */
export function* entryTexts(entry: IContent): Generator<string, void, undefined> {
  for (const block of entry.blocks) yield* blockTexts(block);
}

/** Tokens of one entry: what its texts count, and the constants of `fixedEntryTokens`. */
export function countEntryTokens(entry: IContent, countText: CountText): number {
  let tokens = fixedEntryTokens(entry);
  for (const text of entryTexts(entry)) tokens += countText(text);
  return tokens;
}

/** Tokens of each entry, in their order. */
export function countEachEntry(contents: readonly IContent[], countText: CountText): Int32Array {
  return Int32Array.from(contents, (entry) => countEntryTokens(entry, countText));
}
