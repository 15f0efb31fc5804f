// That what is printed keeps to its width, and says the same as before.

import fc from 'fast-check';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  columnsOf,
  createPaint,
  fitLines,
  shortenEnd,
  shortenStart,
  wrap,
} from '../../../src/cli/terminal/text-layout.js';
import { renderTable } from '../../../src/cli/replay/render-tables.js';
import { runs } from '../../support/scale.js';

/** Lines of words, some of them long, with indents and gaps between columns. */
const arbitraryText = fc
  .array(
    fc
      .array(fc.stringMatching(/^(?:[a-z,.:/\-读🙂]{1,30}| {1,6})$/u), { maxLength: 12 })
      .map((parts) => parts.join(' ')),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));

const arbitraryWidth = fc.integer({ min: 24, max: 90 });

/** What is left of a text when nothing counts but what it says. */
function said(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s/g, '');
}

describe('fitLines', () => {
  it('has no line wider than it may be, and loses no word', () => {
    fc.assert(
      fc.property(arbitraryText, arbitraryWidth, (text, width) => {
        const fitted = fitLines(text, width);
        for (const line of fitted.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(said(fitted)).toBe(said(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('leaves lines alone that fit, colours and all', () => {
    const line = createPaint(true)('cyan', 'x'.repeat(30));
    expect(fitLines(`${line}\n  a   b`, 30)).toBe(`${line}\n  a   b`);
  });

  it('sets a term on a line of its own, and what is said of it below', () => {
    expect(fitLines('  --format <name>  the format of what is read', 30)).toBe(
      '  --format <name>\n    the format of what is read',
    );
  });
});

describe('columnsOf', () => {
  it('counts two columns for East Asian characters and emoji, and none for marks', () => {
    expect(columnsOf('src/a.ts …')).toBe(10);
    expect(columnsOf('读取ファイル파일')).toBe(16);
    expect(columnsOf('ok 🙂')).toBe(5);
    expect(columnsOf('cafe\u0301')).toBe(4);
  });
});

describe('shortenEnd and shortenStart', () => {
  it('keep to the columns, and leave alone what fits', () => {
    expect(shortenEnd('读取文件', 8)).toBe('读取文件');
    expect(shortenEnd('读取文件', 6)).toBe('读取…');
    expect(shortenStart('源代码/文件.ts', 8)).toBe('…文件.ts');
    expect(shortenStart('src/a.ts', 5)).toBe('…a.ts');
  });
});

describe('wrap', () => {
  it('breaks between words, and within one only where that is longer', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a verylongword b', 6)).toEqual(['a', 'verylo', 'ngword', 'b']);
  });
});

describe('renderTable', () => {
  const head = ['tokens', 'tool', 'about'];
  const rows = [['1,234', 'Read', 'a-file-of-some-length.ts']];
  const paint = createPaint(false);

  it('is a table where that fits', () => {
    expect(
      renderTable(head, rows, { width: 40, listWidth: 40, paint }, ['right', 'left', 'left']),
    ).toEqual(['tokens  tool  about', ' 1,234  Read  a-file-of-some-length.ts']);
  });

  it('sets rows one below the other elsewhere, by the first column that holds names', () => {
    expect(
      renderTable(head, rows, { width: 36, listWidth: 36, paint }, ['right', 'left', 'left']),
    ).toEqual(['tool', 'Read', '  tokens 1,234', '  about a-file-of-some-length.ts']);
  });
});
