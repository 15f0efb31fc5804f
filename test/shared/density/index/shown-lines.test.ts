// Which lines of a text earlier ones show, when some of these stand no more.

import { describe, expect, it } from 'vitest';
import {
  KnownStretches,
  stretchNumbers,
} from '../../../../src/shared/density/index/shown-lines.js';

const LINES = 'the first line of three\nthe second line of three\nthe third line of three';

describe('KnownStretches', () => {
  it('finds lines in a later text once the first that had them is gone, as if it had never been there', () => {
    const numbers = stretchNumbers(LINES);
    const grown = new KnownStretches();
    grown.note(1, numbers, () => false);
    grown.note(2, numbers, (text) => text === 1);
    const rebuilt = new KnownStretches();
    rebuilt.note(2, numbers, () => false);
    const isLive = (text: number): boolean => text === 2;
    const shown = rebuilt.note(3, numbers, isLive);
    expect(shown).toEqual([{ start: 0, end: 3, text: 2, line: 0 }]);
    expect(grown.note(3, numbers, isLive)).toEqual(shown);
  });
});
