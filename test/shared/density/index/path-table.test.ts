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

  it('knows the paths of an agent on Windows when ctxfold runs elsewhere', () => {
    const { raw } = String;
    const paths = new PathTable(raw`C:\w`);
    const spellings = [raw`C:\w\src\A.ts`, 'c:/w/src/a.ts', raw`src\a.ts`, '/c/w/src/a.ts'];
    const others = [raw`\\?\C:\w\src\a.ts`, '/mnt/c/w/src/a.ts', 'file:///c%3A/w/src/a.ts'];
    expect(new Set([...spellings, ...others].map((each) => paths.idOf(each)))).toEqual(
      new Set([0]),
    );
    expect(paths.idOf('/tmp/a.ts')).toBe(paths.idOf('C:/tmp/a.ts'));
    expect(paths.idOf(raw`\\server\w\src\a.ts`)).toBe(2);
    expect(paths.idOf('//SERVER/w/src/a.ts')).toBe(2);
    const elsewhere = new PathTable('/w');
    expect(elsewhere.idOf(raw`C:\w\a.ts`)).toBe(elsewhere.idOf('c:/w/A.ts'));
    expect(elsewhere.idOf('/c/w/a.ts')).not.toBe(elsewhere.idOf('/C/w/a.ts'));
  });

  it('takes a URL of a file for its path', () => {
    const paths = new PathTable('/w');
    expect(paths.idOf('file:///w/a%20b.ts')).toBe(paths.idOf('a b.ts'));
    expect(paths.idOf('file:///w/100%.ts')).toBe(paths.idOf('100%.ts'));
  });
});
