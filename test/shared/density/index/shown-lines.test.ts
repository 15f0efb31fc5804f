// Which lines of a text others show, and that of those which are forgotten nothing is left.

import { describe, expect, it } from 'vitest';
import {
  KnownStretches,
  stretchNumbers,
} from '../../../../src/shared/density/index/shown-lines.js';

const LINES = 'the first line of three\nthe second line of three\nthe third line of three';
const OTHERS = LINES.replaceAll('three', 'the others');
const numbers = stretchNumbers(LINES);

describe('KnownStretches', () => {
  it('finds lines in the first text that has them and may be named, in whatever order texts were noted', () => {
    const known = new KnownStretches();
    for (const text of [20, 10, 30]) known.note(text, numbers);
    const rows = new Map([
      [30, 7],
      [10, 4],
      [20, 6],
    ]);
    const shown = (): number[] => known.shownIn(numbers, rows).map(({ row }) => row);
    expect(shown()).toEqual([4]);
    known.move(30, 5);
    rows.delete(30);
    rows.set(5, 2);
    expect(shown()).toEqual([2]);
    known.forget(5);
    expect(shown()).toEqual([4]);
    rows.delete(10);
    expect(shown()).toEqual([6]);
    rows.clear();
    expect(shown()).toEqual([]);
  });

  it('tells of one run where lines follow each other in another text as well', () => {
    const known = new KnownStretches();
    known.note(1, stretchNumbers(`${LINES}\n${OTHERS}`));
    const turned = stretchNumbers(`${OTHERS}\n${LINES}\n${OTHERS}`);
    expect(known.shownIn(turned, new Map([[1, 0]]))).toEqual([
      { start: 0, end: 3, row: 0 },
      { start: 3, end: 9, row: 0 },
    ]);
  });

  it('keeps nothing of what is forgotten', () => {
    const known = new KnownStretches();
    for (const text of [1, 2]) known.note(text, text === 2 ? stretchNumbers(OTHERS) : numbers);
    known.move(1, 3);
    known.keep(new Set([3]));
    const rows = new Map([1, 2, 3].map((text) => [text, 0]));
    expect(known.sizeOf(2)).toBeUndefined();
    expect(known.sizeOf(3)).toBe(1);
    expect(known.shownIn(stretchNumbers(OTHERS), rows)).toEqual([]);
    expect(known.shownIn(numbers, rows)).toHaveLength(1);
    known.keep(new Set());
    expect(known.size).toBe(0);
  });
});
