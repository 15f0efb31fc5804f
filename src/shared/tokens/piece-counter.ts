// Makes a piece counter of what a module of gpt-tokenizer exports: its tokens, or its own encoder. What
// is loaded is handed in: who loads it decides on which thread its memory is.

import { createBytePairCounter } from './byte-pair-counter.js';
import type { CountPiece } from './count-tokens.js';
import type { TokenList } from './token-table.js';

/** The part of gpt-tokenizer's `bpeRanks/*` modules that counting needs: all of it. */
export interface TokenModule {
  readonly default: TokenList;
}

/** The part of gpt-tokenizer's `encoding/*` modules that counting needs. */
export interface PieceEncoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
  setMergeCacheSize(size: number): void;
  clearMergeCache(): void;
}

export interface PieceCounter {
  readonly count: CountPiece;
  /** Forgets what was counted. Call it after every batch. */
  readonly release: () => void;
}

/**
 * Words that the encoding remembers. Its default of 100,000 is no faster than 4,096, while each word is
 * a substring that keeps the text it was cut from alive: 3,000 texts of 140 kB stayed in memory as a
 * whole. For the same reason batches end with a `release`.
 */
const MERGE_CACHE_SIZE = 4_096;

/**
 * Returns a counter on the tokens of `bpeRanks/*`, which is linear on any text and keeps nothing, or on
 * the encoder of `encoding/*`, which takes up to ten times as long where words are rare. Text that looks
 * like a special token (`<|endoftext|>`) counts as ordinary text, as it does for a provider; lone
 * surrogates count as U+FFFD.
 */
export function createPieceCounter(source: TokenModule | PieceEncoding): PieceCounter {
  if (!('countTokens' in source)) {
    return { count: createBytePairCounter(source.default), release: () => undefined };
  }
  const options = { disallowedSpecial: new Set<string>() };
  source.setMergeCacheSize(MERGE_CACHE_SIZE);
  return {
    count: (piece) => source.countTokens(piece, options),
    release: () => {
      source.clearMergeCache();
    },
  };
}
