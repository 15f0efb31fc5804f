// Pieces of text: they join to the text, are short, split no surrogate pair, and keep counts exact.

import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { MAX_PIECE_LENGTH, countInPieces, pieces } from '../../../src/shared/tokens/pieces.js';
import { runs } from '../../support/scale.js';

const units = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { size: 'max', maxLength: 3_000 })
  .map((codes) => String.fromCharCode(...codes));
const pairs = fc
  .tuple(fc.constantFrom('', 'x', '.'), fc.nat(2_000))
  .map(([start, count]) => start + '😀'.repeat(count));
const words = fc
  .array(
    fc.constantFrom(
      ...['word', ' ', '\n', "don't", '42', 'é', '漢', '), ', '    ', '\r\n', '()'],
      ...['。', '\u3000', '\u00a0', 'e\u0301', '😀', '𠀀', '²'],
    ),
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

  test('have the same total count as the whole text if it has places to cut', () => {
    const options = { disallowedSpecial: new Set<string>() };
    fc.assert(
      fc.property(
        // A longer run of one class may have no such place.
        words.filter((text) => !/[\p{L}\p{N}']{250}|[^\p{L}\p{N}]{250}/u.test(text)),
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

  test.each([
    ['Chinese prose', '今天天气很好，我们去公园散步吧。', /[，。]/],
    ['emoji between letters', 'abc😀', /😀/],
  ])('%s is cut before what ends a word', (_name, text, expected) => {
    const [, ...rest] = pieces(text.repeat(200));
    expect(rest.map((piece) => String.fromCodePoint(piece.codePointAt(0) ?? 0))).toEqual(
      rest.map(() => expect.stringMatching(expected) as unknown),
    );
  });

  test.each([
    ['before a mark', 'a' + '\u0301'],
    ['before a contraction', "x'll"],
    ['between a wide space and a space', '\u3000 '],
    ['within a letter of two units', 'a𠀀'],
  ])('no text is cut %s, should a better place exist', (_name, part) => {
    // Wherever in the part the limit falls.
    for (const dots of [300, 301, 302, 303]) {
      const text = '.'.repeat(dots) + ' a.' + part.repeat(400);
      const [first] = pieces(text);
      expect(first).toHaveLength(dots + 2);
    }
  });

  test('a piece is as long as may be where a word ends there', () => {
    const [first] = pieces('a.' + 'x'.repeat(MAX_PIECE_LENGTH - 2) + '.x'.repeat(100));
    expect(first).toHaveLength(MAX_PIECE_LENGTH);
  });

  test('a piece ends with a word', () => {
    const [first, second] = pieces('word '.repeat(200));
    expect(first).toMatch(/word$/);
    expect(second).toMatch(/^ word/);
  });
});

describe('countInPieces', () => {
  test('counts pieces only, and returns the sum', () => {
    fc.assert(
      fc.property(fc.oneof(units, pairs, words), (text) => {
        const asked: string[] = [];
        const count = countInPieces((piece) => asked.push(piece));
        const counted = count(text);
        expect(asked).toEqual([...pieces(text)]);
        expect(counted).toBe((asked.length * (asked.length + 1)) / 2);
      }),
      { numRuns: runs(100) },
    );
  });
});
