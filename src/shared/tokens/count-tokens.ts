// Counts the tokens of entries piece by piece. The same code runs in the worker and on the calling
// thread, so that both give equal numbers.

import type { IContent } from '../content.js';
import { blockTexts, fixedEntryTokens } from './content-text.js';
import { pieces } from './pieces.js';

/** Counts the tokens of one short text. */
export type CountPiece = (piece: string) => number;

/** The texts of an entry, cut into pieces: all that has to be encoded to count it. */
export function* entryPieces(entry: IContent): Generator<string, void, undefined> {
  for (const block of entry.blocks) {
    for (const text of blockTexts(block)) yield* pieces(text);
  }
}

/** Tokens of one entry: what its pieces count, and the constants of `fixedEntryTokens`. */
export function countEntryTokens(entry: IContent, countPiece: CountPiece): number {
  let tokens = fixedEntryTokens(entry);
  for (const piece of entryPieces(entry)) tokens += countPiece(piece);
  return tokens;
}

/** Tokens of each entry, in their order. */
export function countEachEntry(contents: readonly IContent[], countPiece: CountPiece): Int32Array {
  return Int32Array.from(contents, (entry) => countEntryTokens(entry, countPiece));
}
