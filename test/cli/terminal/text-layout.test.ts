// Printed text fits its width, and keeps its words.

import { describe, expect, it } from 'vitest';
import {
  columnsOf,
  formatChange,
  formatCount,
  formatDollars,
  formatSaving,
  formatShare,
  shortenEnd,
  shortenStart,
  wrap,
} from '../../../src/cli/terminal/text-layout.js';
import { createPaint } from '../../../src/cli/terminal/terminal-layout.js';
import { renderTable } from '../../../src/cli/replay/render-tables.js';

describe('columnsOf', () => {
  it('counts two columns for East Asian characters and emoji, and none for marks', () => {
    expect(columnsOf('src/a.ts …')).toBe(10);
    expect(columnsOf('读取ファイル파일')).toBe(16);
    expect(columnsOf('ok 🙂')).toBe(5);
    expect(columnsOf('cafe\u0301')).toBe(4);
  });
});

describe('shortenEnd and shortenStart', () => {
  it('fit the columns, and keep a text that fits', () => {
    expect(shortenEnd('读取文件', 8)).toBe('读取文件');
    expect(shortenEnd('读取文件', 6)).toBe('读取…');
    expect(shortenStart('源代码/文件.ts', 8)).toBe('…文件.ts');
    expect(shortenStart('src/a.ts', 5)).toBe('…a.ts');
  });
});

describe('wrap', () => {
  it('breaks between words, and only within a word that is longer than a line', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a verylongword b', 6)).toEqual(['a', 'verylo', 'ngword', 'b']);
    expect(wrap('exact b', 5)).toEqual(['exact', 'b']);
  });
});

describe('renderTable', () => {
  const head = ['tokens', 'tool', 'about'];
  const rows = [['1,234', 'Read', 'a-file-of-some-length.ts']];
  const paint = createPaint(false);

  it('is a table if that fits', () => {
    expect(
      renderTable(head, rows, { width: 40, listWidth: 40, paint }, ['right', 'left', 'left']),
    ).toEqual(['tokens  tool  about', ' 1,234  Read  a-file-of-some-length.ts']);
  });

  it('otherwise writes rows as blocks, titled by the first column with names', () => {
    expect(
      renderTable(head, rows, { width: 36, listWidth: 36, paint }, ['right', 'left', 'left']),
    ).toEqual(['tool', 'Read', '  tokens 1,234', '  about a-file-of-some-length.ts']);
  });
});

describe('formatCount and formatChange', () => {
  it('write the same minus', () => {
    expect([1_234, 0, -12].map(formatCount)).toEqual(['1,234', '0', '\u221212']);
    expect([1_234, 0, -12].map(formatChange)).toEqual(['+1,234', '0', '\u221212']);
  });
});

describe('formatDollars', () => {
  it.each([
    [1234.5, '$1,234.50'],
    [0.1, '$0.10'],
    [0.0042, '$0.0042'],
    [0, '$0.00'],
    [-1, '−$1.00'],
  ])('%d is %s', (dollars, text) => {
    expect(formatDollars(dollars)).toBe(text);
  });
});

describe('formatShare', () => {
  it.each([
    [123, 1_000, '12.3 %'],
    [-32, 1_000, '\u22123.2 %'],
    [-1, 1_000_000, '0.0 %'],
    [19_556_684, 200_000, '9,778.3 %'],
    [1, 0, '–'],
  ])('%d of %d is %s', (part, whole, text) => {
    expect(formatShare(part, whole)).toBe(text);
  });
});

describe('formatSaving', () => {
  it.each([
    [100, 40, '60 % less'],
    [100, 103, '3 % more'],
    [100, 100, 'the same'],
    [0, 0, 'the same'],
  ])('%d to %d is %s', (without, left, text) => {
    expect(formatSaving(without, left)).toBe(text);
  });
});
