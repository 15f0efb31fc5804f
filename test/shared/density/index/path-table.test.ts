// Ids of files, however they are spelled.

import { describe, expect, it } from 'vitest';
import { PathTable } from '../../../../src/shared/density/index/text-table.js';

describe('PathTable', () => {
  it('gives every spelling of a file one id', () => {
    const paths = new PathTable('/w');
    const spellings = ['a.ts', './a.ts', '/w/a.ts', 'b/../a.ts', '/w/b/c.ts', 'b/c.ts', 'A.ts'];
    expect(spellings.map((spelling) => paths.idOf(spelling))).toEqual([0, 0, 0, 0, 1, 1, 2]);
    expect(spellings.map((spelling) => paths.idOf(spelling))).toEqual([0, 0, 0, 0, 1, 1, 2]);
    expect(paths.size).toBe(3);
  });
});
