// Keeps the entries of the package small and apart: what a session needs in the root, each theme in one place.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);
const ENTRIES = readdirSync(SOURCES).filter((file) => file.endsWith('.ts'));

/** Returns the names that an entry exports. */
function namesOf(entry: string): string[] {
  const source = readFileSync(new URL(entry, SOURCES), 'utf8');
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list]) => list);
  const names = lists.flatMap((list) => (list ?? '').split(',')).map((name) => name.trim());
  return names.filter((name) => name !== '').map((name) => name.split(' as ').at(-1) ?? name);
}

/** An adapter shows the types of its options beside what it is: nobody imports two of them. */
const isAdapter = (entry: string): boolean =>
  readFileSync(new URL(entry, SOURCES), 'utf8').startsWith('// The adapter');

describe('the entries of the package', () => {
  it('have at most 120 names in the root, types included', () => {
    const names = namesOf('index.ts');
    expect(names).toContain('createCompactor');
    expect(names.length).toBeLessThanOrEqual(120);
  });

  it('have each name once, but for those of the adapters', () => {
    const names = ENTRIES.filter((entry) => !isAdapter(entry)).flatMap(namesOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
