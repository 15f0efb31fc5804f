import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonErrorOffset, lineAndColumn } from '../../../src/main/formats/json-error-offset.js';

describe('jsonErrorOffset', () => {
  it.each([
    ['', 0],
    ['{', 1],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[1}', 2],
    ['{]', 1],
    ['{"a":tru}', 5],
    ['["a\nb"]', 3],
    ['["\\x"]', 2],
    ['["abc', 5],
    ['{} {}', 3],
    ['{"a":1}, ', 7],
  ])('finds where %j stops being JSON', (text, offset) => {
    expect(jsonErrorOffset(text)).toBe(offset);
  });

  it('finds nothing wrong in JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonErrorOffset(text)).toBe(text.length);
      }),
    );
  });

  it('finds the end of truncated JSON, where a value could continue', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.boolean())), fc.nat(), (value, seed) => {
        const text = JSON.stringify(value);
        const cut = text.slice(0, seed % text.length).replace(/[a-z]+$/, '');
        expect(jsonErrorOffset(cut)).toBe(cut.length);
      }),
    );
  });
});

describe('lineAndColumn', () => {
  it('counts both from 1', () => {
    expect([lineAndColumn('ab\ncd', 0), lineAndColumn('ab\ncd', 4)]).toEqual([
      { line: 1, column: 1 },
      { line: 2, column: 2 },
    ]);
  });
});
