// The violations that `npm run conformance:mutants` plants: it takes minutes, and is seldom run.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Mutant {
  readonly rows: readonly string[];
  readonly file: string;
  readonly before: string;
}

const read = (path: string): string => readFileSync(resolve(path), 'utf8');
const { mutants } = JSON.parse(read('test/conformance/mutants.json')) as {
  readonly mutants: readonly Mutant[];
};

describe('planted violations', () => {
  it('apply to the sources as they are, each at one place', () => {
    const stale = mutants.filter(
      ({ file, before }) => read(`src/${file}`).split(before).length !== 2,
    );
    expect(stale.map(({ rows }) => rows.join(', '))).toEqual([]);
    expect(mutants.length).toBeGreaterThan(100);
  });
});
