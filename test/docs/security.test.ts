// Checks docs/security.md: each row cites a test, and the tests exist.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { citationsIn, citing, missingTests, tableRows } from '../support/cited-tests.js';

const REPOSITORY = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, REPOSITORY), 'utf8');
const PAGE = read('docs/security.md');

/** All rows with a claim: the last cell of each cites its tests. */
const ROWS = tableRows(PAGE).filter((cells) => cells.at(-1) !== 'tests');
const CITATIONS = ROWS.flatMap((cells) => citationsIn(cells.at(-1) ?? ''));

describe('docs/security.md', () => {
  it('cites a test in every row of its tables, and only tests in that column', () => {
    expect(ROWS.length).toBeGreaterThan(50);
    for (const cells of ROWS) {
      const cited = citationsIn(cells.at(-1) ?? '');
      expect(cited.length, cells[0]).toBeGreaterThan(0);
      expect(citing(cited), cells[0]).toBe(cells.at(-1));
    }
  });

  it.each([...new Set(CITATIONS.map(({ file }) => file))])('cites tests that exist: %s', (file) => {
    const names = CITATIONS.filter((citation) => citation.file === file).map(({ name }) => name);
    expect(existsSync(new URL(`test/${file}`, REPOSITORY))).toBe(true);
    expect(missingTests(file, names)).toEqual([]);
  });

  it('names every dependency of ctxfold', () => {
    const { dependencies = {} } = JSON.parse(read('package.json')) as {
      readonly dependencies?: object;
    };
    expect(Object.keys(dependencies).filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([]);
  });
});
