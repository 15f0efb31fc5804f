// The character classes: those of the reference's regular expressions, for every code point.

import { describe, expect, test } from 'vitest';
import {
  LETTER,
  LOWER,
  NEWLINE,
  NUMBER,
  SPACE,
  UPPER,
  readCharacterClasses,
} from '../../../src/shared/tokens/word-scanner.js';
import { referenceMatches } from '../../support/reference-counter.js';

const { pageOf, flags } = readCharacterClasses();
const POINTS = 0x110000;
const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const points = Array.from({ length: POINTS }, (_, point) => point).filter((at) => !isSurrogate(at));
const everything = points.map((point) => String.fromCodePoint(point)).join('');

function flagsOf(point: number): number {
  return flags[(pageOf[point >> 8] ?? 0) * 256 + (point & 0xff)] ?? 0;
}

describe('readCharacterClasses', () => {
  test.each([
    ['UPPER', UPPER, '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]'],
    ['LOWER', LOWER, '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]'],
    ['LETTER', LETTER, '\\p{L}'],
    ['NUMBER', NUMBER, '\\p{N}'],
    ['SPACE', SPACE, '\\s'],
    ['NEWLINE', NEWLINE, '[\\r\\n]'],
  ])('assigns %s to the same characters as the reference', (_name, flag, pattern) => {
    const expected = referenceMatches(pattern, everything);
    const found = points.filter((point) => (flagsOf(point) & flag) !== 0);
    // Not with toBe: it would print a million characters.
    expect(found.map((point) => String.fromCodePoint(point)).join('') === expected).toBe(true);
    expect(found.length).toBeGreaterThan(1);
  });

  test('treats a letter newer than Unicode 16 as none, as the reference does', () => {
    expect(flagsOf(0xa7ce)).toBe(0);
    expect(flagsOf(0x16ea0)).toBe(0);
  });

  test('stores equal pages once', () => {
    expect(pageOf).toHaveLength(POINTS / 256);
    expect(flags.length).toBeLessThan(POINTS / 16);
  });
});
