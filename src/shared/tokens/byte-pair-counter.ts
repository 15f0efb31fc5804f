// Counts the tokens of text in the o200k encoding. Which tokens there are is handed in: who loads them
// decides on which thread they live.

import { BytePairMerger } from './byte-pair-merger.js';
import type { CountPiece } from './count-tokens.js';
import { MAX_PIECE_LENGTH, pieces } from './pieces.js';
import { NO_RANK, TokenTable } from './token-table.js';
import type { TokenArrays } from './token-table.js';
import { MAX_BYTES_PER_UNIT, writeUtf8 } from './utf8.js';

const CONTRACTION = "(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?";
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';

/**
 * What o200k splits text into before it merges bytes. Every text is a sequence of such words. Source:
 * tiktoken, `openai_public.py`, `o200k_base`.
 */
export const WORD_PATTERN: string = [
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+${CONTRACTION}`,
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*${CONTRACTION}`,
  '\\p{N}{1,3}',
  ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*',
  '\\s*[\\r\\n]+',
  '\\s+(?!\\S)',
  '\\s+',
].join('|');

/**
 * Returns a counter for an encoding with the words of o200k and these tokens. Making it takes no
 * time and 0.1 MB, beside the tokens; counting keeps nothing. Time is linear in the length of any text, and no text
 * makes it throw: one that looks like a special token (`<|endoftext|>`) counts as ordinary text, as it
 * does for a provider, and lone surrogates count as U+FFFD. A text longer than a piece is counted
 * piece by piece.
 */
export function createBytePairCounter(tokens: TokenArrays): CountPiece {
  const table = new TokenTable(tokens);
  const merger = new BytePairMerger(table);
  const bytes = new Uint8Array(MAX_PIECE_LENGTH * MAX_BYTES_PER_UNIT);
  const word = new RegExp(WORD_PATTERN, 'gu');

  const countPiece = (piece: string): number => {
    let count = 0;
    let start = 0;
    // `test` moves `lastIndex` to the end of the word and, unlike `exec`, makes no substring.
    for (word.lastIndex = 0; word.test(piece); start = word.lastIndex) {
      const length = writeUtf8(piece, start, word.lastIndex, bytes, 0);
      const isToken = table.rankOf(bytes, 0, length) !== NO_RANK;
      count += isToken ? 1 : merger.countTokens(bytes, length);
    }
    return count;
  };
  return (text) => {
    if (text.length <= MAX_PIECE_LENGTH) return countPiece(text);
    let count = 0;
    for (const piece of pieces(text)) count += countPiece(piece);
    return count;
  };
}
