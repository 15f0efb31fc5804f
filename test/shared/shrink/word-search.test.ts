import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchFor } from '../../../src/shared/shrink/word-search.js';
import { runs } from '../../support/scale.js';

/** The same, as a regular expression. */
function expressionFor(words: readonly string[]): RegExp {
  const sources = words.map((word) =>
    word.replaceAll(/[.*\\]/g, String.raw`\$&`).replace(/^\n/, '^'),
  );
  return new RegExp(sources.join('|'), 'im');
}

/** Some are within others. */
const WORDS = [
  ...['err', 'error at', 'seg fault', 'g fa', 'fail', 'ail:', '***', '\ne  ', '\\ne: ', 'ошибка'],
];
const PARTS = fc.constantFrom(
  ...['e', 'r', 'rr', 'or', ' at', 'seg', ' ', 'fa', 'ult', 'il', ':', '**', '\n', '\r', '\u2028'],
  ...['seg fa', '\\n', 'E: ', 'E  ', 'ОШИБ', 'ка', 'F', 'é', '\ud83d', 'x'],
);

describe('searchFor', () => {
  it('finds the same as a regular expression of the words', () => {
    const has = searchFor(WORDS);
    const expression = expressionFor(WORDS);
    fc.assert(
      fc.property(fc.array(PARTS, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        expect(has(text)).toBe(expression.test(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('refuses words that its table has no room for', () => {
    const words = Array.from({ length: 400 }, (_, at) => `${at}`.padEnd(200, 'abcdefghij'));
    expect(() => searchFor(words)('')).toThrow(RangeError);
  });

  it('finds a word across the chunks in which a long text is read', () => {
    const has = searchFor(WORDS);
    for (let before = 8_185; before < 8_200; before += 1) {
      expect(has(`${'x'.repeat(before)}Seg fault`)).toBe(true);
      expect(has(`${'x'.repeat(before)}seg-fault`)).toBe(false);
    }
  });
});
