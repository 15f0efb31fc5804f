// Checks the package entries: few names in the root, and each name in one entry.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);
const ENTRIES = readdirSync(SOURCES).filter((file) => file.endsWith('.ts'));

/** The names that an entry exports. */
function namesOf(entry: string): string[] {
  const source = readFileSync(new URL(entry, SOURCES), 'utf8');
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list]) => list);
  const names = lists.flatMap((list) => (list ?? '').split(',')).map((name) => name.trim());
  return names.filter((name) => name !== '').map((name) => name.split(' as ').at(-1) ?? name);
}

/** Adapters repeat the types of their options: an application rarely imports two of them. */
const isAdapter = (entry: string): boolean =>
  readFileSync(new URL(entry, SOURCES), 'utf8').startsWith('// The adapter');

describe('the entries of the package', () => {
  it('export at most 120 names from the root, types included', () => {
    const names = namesOf('index.ts');
    expect(names).toContain('createCompactor');
    expect(names.length).toBeLessThanOrEqual(120);
  });

  it('export each name once, except the adapters', () => {
    const names = ENTRIES.filter((entry) => !isAdapter(entry)).flatMap(namesOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
