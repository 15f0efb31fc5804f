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
  it('finds lines in the first row that has them, in whatever order texts were noted', () => {
    const known = new KnownStretches();
    for (const text of [1, 2, 3]) known.note(text, numbers);
    const rows = new Map([
      [1, 9],
      [2, 4],
      [3, 7],
    ]);
    const rowOf = (text: number): number | undefined => rows.get(text);
    expect(known.shownIn(numbers, rowOf)).toEqual([{ start: 0, end: 3, row: 4 }]);
    rows.delete(2);
    expect(known.shownIn(numbers, rowOf)).toEqual([{ start: 0, end: 3, row: 7 }]);
    rows.clear();
    expect(known.shownIn(numbers, rowOf)).toEqual([]);
  });

  it('tells of one run where lines follow each other in another text as well', () => {
    const known = new KnownStretches();
    known.note(1, stretchNumbers(`${LINES}\n${OTHERS}`));
    const turned = stretchNumbers(`${OTHERS}\n${LINES}\n${OTHERS}`);
    expect(known.shownIn(turned, () => 0)).toEqual([
      { start: 0, end: 3, row: 0 },
      { start: 3, end: 9, row: 0 },
    ]);
  });

  it('keeps nothing of what is forgotten', () => {
    const known = new KnownStretches();
    known.note(1, numbers);
    known.note(2, stretchNumbers(OTHERS));
    known.keep(new Set([2]));
    expect(known.sizeOf(1)).toBeUndefined();
    expect(known.sizeOf(2)).toBe(1);
    expect(known.shownIn(numbers, () => 0)).toEqual([]);
    known.keep(new Set());
    expect(known.size).toBe(0);
  });
});
