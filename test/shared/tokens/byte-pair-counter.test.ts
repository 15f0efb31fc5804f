// Exact counts of text: against gpt-tokenizer, whose merging is its own, and on text that was made to
// be slow to count or to break a counter.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens, decode } from 'gpt-tokenizer/encoding/o200k_base';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { describe, expect, test } from 'vitest';
import {
  WORD_PATTERN,
  createBytePairCounter,
} from '../../../src/shared/tokens/byte-pair-counter.js';
import { MAX_PIECE_LENGTH, pieces } from '../../../src/shared/tokens/pieces.js';
import { arrangeTokens } from '../../../src/shared/tokens/token-table.js';
import { runs } from '../../support/scale.js';

const count = createBytePairCounter(arrangeTokens(tokens));

function countOfLibrary(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() });
}

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const recordings = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(jsonl?|traj)$/.test(name))
  .map((name) => [name, readFileSync(join(FIXTURES, name), 'utf8')] as const);

const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
/** gpt-tokenizer's text decoder drops a byte order mark, and so it finds no token that has one. */
const BYTE_ORDER_MARK = /\ufeff/;
const anyUnits = fc
  .array(unit, { size: 'max', maxLength: MAX_PIECE_LENGTH })
  .map((units) => units.join(''))
  .filter((text) => !BYTE_ORDER_MARK.test(text));

/** Texts of one sort of character each: long words, which are merged and not looked up. */
const ranges: readonly (readonly [number, number])[] = [
  [0x61, 0x7a],
  [0x41, 0x7a],
  [0x21, 0x2f],
  [0x09, 0x20],
  [0x30, 0x39],
  [0x80, 0xff],
  [0x300, 0x36f],
  [0x430, 0x44f],
  [0xe01, 0xe2e],
  [0x2000, 0x200f],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xd800, 0xdfff],
  [0x1f300, 0x1f6ff],
  [0x20000, 0x2a6df],
];
const oneSort = fc
  .constantFrom(...ranges)
  .chain(([min, max]) => fc.array(fc.integer({ min, max }), { size: 'max', maxLength: 250 }))
  .map((points) => String.fromCodePoint(...points));

describe('WORD_PATTERN', () => {
  test('is that of gpt-tokenizer', () => {
    expect(WORD_PATTERN).toBe(O200K_TOKEN_SPLIT_REGEX.source);
  });
});

describe('createBytePairCounter', () => {
  test.each(recordings)('counts %s, cut into pieces, as the library does whole', (_name, text) => {
    let inPieces = 0;
    for (const piece of pieces(text)) inPieces += count(piece);
    expect(inPieces).toBe(countOfLibrary(text));
  });

  test('counts any short text as the library does', () => {
    fc.assert(
      fc.property(fc.oneof(anyUnits, oneSort), (text) => {
        expect(count(text)).toBe(countOfLibrary(text));
      }),
    );
  });

  test.each([
    ['a letter', 'a'.repeat(MAX_PIECE_LENGTH)],
    ['a space', ' '.repeat(MAX_PIECE_LENGTH)],
    ['a line end', '\r\n'.repeat(MAX_PIECE_LENGTH / 2)],
    ['a character of three bytes', '漢'.repeat(MAX_PIECE_LENGTH)],
    ['a family', '👨‍👩‍👧‍👦'.repeat(40)],
    ['a lone surrogate', '\ud800'.repeat(MAX_PIECE_LENGTH)],
    ['a special token', '<|endoftext|>'.repeat(30)],
    ['nothing', ''],
  ])('counts %s, repeated, as the library does', (_name, text) => {
    expect(count(text)).toBe(countOfLibrary(text));
  });

  test('counts every token as one, as its text is one word', () => {
    // Not the bytes that are no text, nor tokens that no text is split into.
    for (let rank = 256; rank < 199_998; rank += 997) {
      const text = decode([rank]);
      if (countOfLibrary(text) === 1) expect(count(text)).toBe(1);
    }
  });

  test('counts byte order marks as tiktoken does: two of them are one token', () => {
    expect([1, 2, 3, 4].map((length) => count('\ufeff'.repeat(length)))).toEqual([1, 1, 2, 2]);
  });

  test('counts a long text as the sum of its pieces', () => {
    fc.assert(
      fc.property(fc.oneof(anyUnits, oneSort), (part) => {
        const text = part.repeat(5);
        const sum = [...pieces(text)].reduce((total, piece) => total + count(piece), 0);
        expect(count(text)).toBe(sum);
      }),
      { numRuns: runs(30) },
    );
  });

  test('counts a text of one unit more than a piece as two pieces', () => {
    const piece = '漢'.repeat(MAX_PIECE_LENGTH);
    expect(count(piece + '漢')).toBe(count(piece) + count('漢'));
    expect(count(piece + '字'.repeat(80))).toBe(count(piece) + count('字'.repeat(80)));
  });

  test('merges the pair of the lowest rank first, and of equal ones the leftmost', () => {
    const own = createBytePairCounter(arrangeTokens(['a', 'b', 'c', 'bc', 'ab', 'aa', 'aaa']));
    expect(own('abc')).toBe(2);
    expect(own('ab')).toBe(1);
    // aa|a, then aaa; aa|aa never becomes more.
    expect([1, 2, 3, 4, 5, 6].map((length) => own('a'.repeat(length)))).toEqual([1, 1, 1, 2, 2, 3]);
  });
});
