// Splits text into short pieces for custom tokenizers, so that even a quadratic one is linear in the length of the text.

import { surrogateSafe } from '../shown-text.js';
import type { CountText } from './count-tokens.js';

/**
 * Maximum UTF-16 units of a piece. Text without a break is cut there, which adds to its count: at most 0.5 % measured, and
 * 1.4 % for `don't` repeated.
 */
export const MAX_PIECE_LENGTH = 512;

/** Makes a counter that adds up the counts of pieces. */
export function countInPieces(countPiece: CountText): CountText {
  return (text) => {
    let tokens = 0;
    for (const piece of pieces(text)) tokens += countPiece(piece);
    return tokens;
  };
}

/**
 * Splits a text into pieces of at most `MAX_PIECE_LENGTH`, without splitting a surrogate pair. Pieces are substrings that
 * share the text's memory.
 */
export function* pieces(text: string): Generator<string, void, undefined> {
  if (text.length <= MAX_PIECE_LENGTH) {
    if (text !== '') yield text;
    return;
  }
  for (let start = 0; start < text.length;) {
    const end = pieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * A text up to its last boundary between words, where a cut does not change the count. The o200k pattern splits text into
 * words before merging bytes. No word continues from a letter or digit to anything but letters, digits, marks and the
 * apostrophe of a contraction, or from a visible character to a space. Surrogates are excluded too, because half of a pair
 * may be half of a letter.
 */
const TO_LAST_BREAK = /^[^]*(?:[\p{L}\p{N}](?=[^\p{L}\p{N}\p{M}\p{Cs}'])|\S(?= ))/u;

function pieceEnd(text: string, start: number): number {
  const limit = start + MAX_PIECE_LENGTH;
  if (limit >= text.length) return text.length;
  // One unit more, to see whether the limit itself is a boundary.
  const found = TO_LAST_BREAK.exec(text.slice(start, limit + 1));
  if (found !== null) return start + found[0].length;
  return surrogateSafe(text, limit);
}
