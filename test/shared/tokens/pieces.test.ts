// Pieces of text: that they join to it, stay short, split no pair, and keep counts exact.

import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { MAX_PIECE_LENGTH, pieces } from '../../../src/shared/tokens/pieces.js';

const units = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { size: 'max', maxLength: 3_000 })
  .map((codes) => String.fromCharCode(...codes));
const pairs = fc
  .tuple(fc.constantFrom('', 'x'), fc.nat(2_000))
  .map(([start, count]) => start + '😀'.repeat(count));
const words = fc
  .array(
    fc.constantFrom('word', ' ', '\n', "don't", '42', 'é', '漢', '), ', '    ', '\r\n', '()'),
    {
      size: 'max',
      maxLength: 2_000,
    },
  )
  .map((parts) => parts.join(''));

function splitsPair(piece: string, next: string): boolean {
  return /[\ud800-\udbff]$/.test(piece) && /^[\udc00-\udfff]/.test(next);
}

describe('pieces', () => {
  test('join to the text, are short, and split no surrogate pair', () => {
    fc.assert(
      fc.property(fc.oneof(units, pairs, words), (text) => {
        const cut = [...pieces(text)];
        expect(cut.join('')).toBe(text);
        expect(cut.every((piece) => piece !== '' && piece.length <= MAX_PIECE_LENGTH)).toBe(true);
        expect(cut.some((piece, at) => splitsPair(piece, cut[at + 1] ?? ''))).toBe(false);
      }),
    );
  });

  test('count as much as the whole text where it has places to cut', () => {
    const options = { disallowedSpecial: new Set<string>() };
    fc.assert(
      fc.property(
        // Runs of one sort longer than the look-back have no such place; a word ends them.
        words.filter((text) => !/[^\w ]{100}|[é漢]{20}| {20}/.test(text)),
        (text) => {
          const inPieces = [...pieces(text)].map((piece) => countTokens(piece, options));
          const sum = inPieces.reduce((total, count) => total + count, 0);
          expect(sum).toBe(countTokens(text, options));
        },
      ),
    );
  });

  test('a short text is one piece and an empty one none', () => {
    expect([...pieces('short')]).toEqual(['short']);
    expect([...pieces('')]).toEqual([]);
  });

  test('a text without any break is cut at the limit', () => {
    expect([...pieces('x'.repeat(1_100))].map((piece) => piece.length)).toEqual([512, 512, 76]);
  });

  test('a piece ends with a word', () => {
    const [first, second] = pieces('word '.repeat(200));
    expect(first).toMatch(/word$/);
    expect(second).toMatch(/^ word/);
  });
});
