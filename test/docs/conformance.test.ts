// Checks docs/conformance.md: it has every id of the specification, and everything that it cites exists.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { citationsIn, citing, missingTests, tableRows } from '../support/cited-tests.js';

const REPOSITORY = new URL('../../', import.meta.url);
const DOCUMENT = readFileSync(new URL('docs/conformance.md', REPOSITORY), 'utf8');

type Range = readonly [first: number, last: number];

/** The number of parts of each of the thirteen requirements. */
const REQUIREMENT_PARTS = [10, 10, 6, 4, 11, 5, 6, 6, 6, 5, 4, 3, 7];
const BUSINESS_RULES = { PRUNE: 6, DEDUP: 4, RECENCY: 5, THRESH: 5, CONFLICT: 5 };
const EDGE_CASES: readonly Range[] = [
  [1, 4],
  [10, 16],
  [20, 23],
  [30, 32],
  [40, 42],
  [50, 53],
];
const ERRORS: readonly Range[] = [
  [1, 4],
  [10, 13],
  [20, 22],
  [30, 32],
];
const DECISIONS = [
  'The four strategies',
  'Sections of the snapshot',
  'Summary line',
  'Human entries and truncation',
  'Tail size',
  'Truncation in one pass',
  'Token totals',
  'Removal in one pass',
  'Entries left without substance',
  'Duplicate call ids',
  'Calls without a response',
  'Nested and repeated inclusions',
  'Spellings of an included file',
  'Failed and open writes',
  'Unclear lists of files',
  'Partial writes',
  'Extra configuration',
  'Entries that hold the pointer',
  'Unknown strategy names',
];

function numbered(prefix: string, ranges: readonly Range[]): string[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => `${prefix}-${threeDigits(first + at)}`),
  );
}

function threeDigits(number: number): string {
  return String(number).padStart(3, '0');
}

const IDS = [
  // Assembled from parts, as lint forbids tags in code.
  ...REQUIREMENT_PARTS.flatMap((parts, at) =>
    Array.from({ length: parts }, (_, part) => {
      return `${['REQ', 'HD', threeDigits(at + 1)].join('-')}.${part + 1}`;
    }),
  ),
  ...Object.entries(BUSINESS_RULES).flatMap(([kind, count]) =>
    numbered(`BR-${kind}`, [[1, count]]),
  ),
  ...numbered('EC', EDGE_CASES),
  ...numbered('ERR', ERRORS),
];

/** The rows of all tables, without heads. */
const ROWS = tableRows(DOCUMENT).filter(([, second]) => second !== 'rule');

const CITATIONS = ROWS.flatMap((cells) => citationsIn(cells[3] ?? ''));

describe('docs/conformance.md', () => {
  it('has a row for every id of the specification and every decision', () => {
    expect(IDS).toHaveLength(83 + 25 + 25 + 14);
    const firsts = new Set(ROWS.map(([first]) => first));
    expect([...IDS, ...DECISIONS].filter((id) => !firsts.has(id))).toEqual([]);
  });

  it('has no id that is not in the specification, and none twice', () => {
    const ids = ROWS.map(([first = '']) => first).filter((first) => /^[A-Z]+-/.test(first));
    expect([...ids].sort()).toEqual([...IDS].sort());
  });

  it('cites a test in every row, and only tests in that column', () => {
    for (const cells of ROWS) {
      expect(cells, cells[0]).toHaveLength(4);
      const cited = citationsIn(cells[3] ?? '');
      expect(cited.length, cells[0]).toBeGreaterThan(0);
      expect(citing(cited)).toBe(cells[3]);
    }
  });

  it.each([...new Set(CITATIONS.map(({ file }) => file))])('cites tests that exist: %s', (file) => {
    expect(existsSync(new URL(`test/${file}`, REPOSITORY))).toBe(true);
    const cited = CITATIONS.filter((citation) => citation.file === file).map(({ name }) => name);
    expect(missingTests(file, cited)).toEqual([]);
  });

  it('names sources and pages that exist', () => {
    const sources = ROWS.flatMap(([, , cell = '']) =>
      [...cell.matchAll(/`([\w/-]+\.(?:ts|md))`/g)].map(([, file = '']) => `src/${file}`),
    );
    const pages = [...DOCUMENT.matchAll(/\]\(([^)#]+)\)/g)].map(([, page = '']) => `docs/${page}`);
    expect(sources.length).toBeGreaterThan(100);
    const missing = [...sources, ...pages].filter((path) => !existsSync(new URL(path, REPOSITORY)));
    // A bare file name, such as `compression.md`, has no folder.
    expect(missing.filter((path) => path.split('/').length > 2)).toEqual([]);
  });

  it('refers to existing deviations, to each at least once', () => {
    const section = /## Deviations\n([^]*?)\n## /.exec(DOCUMENT)?.[1] ?? '';
    const numbers = [...section.matchAll(/^(\d+)\. \*\*/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    const referred = [...DOCUMENT.matchAll(/\[(\d+)\]\(#deviations\)/g)].map(([, number]) =>
      Number(number),
    );
    expect([...new Set(referred)].sort((a, b) => a - b)).toEqual(numbers);
  });

  it('has a mutant for every row, or the reason why there is none', () => {
    const { mutants, without } = JSON.parse(
      readFileSync(new URL('test/conformance/mutants.json', REPOSITORY), 'utf8'),
    ) as { mutants: { rows: string[]; file: string }[]; without: Record<string, string> };
    const planted = [...mutants.flatMap(({ rows }) => rows), ...Object.keys(without)];
    expect([...new Set(planted)].sort()).toEqual([...new Set(ROWS.map(([row]) => row))].sort());
    const files = mutants.map(({ file }) => file);
    expect(files.filter((file) => !existsSync(new URL(`src/${file}`, REPOSITORY)))).toEqual([]);
  });

  it('does not name the path of the specification', () => {
    expect(/.*(?:\.\.\/|shared\/spec|\/work\/).*/.exec(DOCUMENT)).toBeNull();
  });
});
