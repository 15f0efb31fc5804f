// No id leads out of the directory.

import { basename, posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removalLogPathIn } from '../../../src/main/removal-log/removal-log-path.js';
import { HOSTILE_IDS } from '../../support/hostile-ids.js';

const HOSTILE = ['', ...HOSTILE_IDS];

describe('removalLogPathIn', () => {
  test('keeps an id that is a safe name everywhere', () => {
    expect(removalLogPathIn('/t', '0f9c-41_b')).toBe('/t/0f9c-41_b.removals.jsonl');
  });

  test('hashes any other id', () => {
    for (const id of HOSTILE) {
      expect(removalLogPathIn('/t', id)).toMatch(/^\/t\/sha256\.[0-9a-f]{64}\.removals\.jsonl$/);
    }
  });

  test('gives different ids different names, also on case-insensitive systems', () => {
    const ids = [...HOSTILE, 'a', 'session', 'x', 'escaped'];
    const names = ids.map((id) => removalLogPathIn('', id).toLowerCase());
    expect(new Set(names).size).toBe(ids.length);
  });

  test('stays in its directory on every system', () => {
    const id = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HOSTILE));
    fc.assert(
      fc.property(id, (given) => {
        const name = basename(removalLogPathIn('/t', given));
        expect(posix.resolve('/t', name)).toBe(`/t/${name}`);
        expect(win32.resolve('C:\\t', name)).toBe(`C:\\t\\${name}`);
        expect(name).toMatch(/^[a-z0-9][a-z0-9_.-]*\.removals\.jsonl$/);
      }),
    );
  });

  test.each([undefined, null, 7, {}, ['a']])('refuses %j as an id', (id) => {
    expect(() => removalLogPathIn('/t', id as never)).toThrow(TypeError);
  });
});
