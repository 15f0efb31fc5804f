// That no id leads anywhere but into the directory.

import { basename, posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removalLogPath } from '../../../src/main/transcript/removal-log-path.js';
import { HOSTILE_IDS } from '../../support/hostile-ids.js';

const HOSTILE = ['', ...HOSTILE_IDS];

describe('removalLogPath', () => {
  test('keeps an id that is a safe name everywhere', () => {
    expect(removalLogPath('/t', '0f9c-41_b')).toBe('/t/0f9c-41_b.removals.jsonl');
  });

  test('hashes an id that is none', () => {
    for (const id of HOSTILE) {
      expect(removalLogPath('/t', id)).toMatch(/^\/t\/sha256\.[0-9a-f]{64}\.removals\.jsonl$/);
    }
  });

  test('gives different ids different names, also where case does not count', () => {
    const ids = [...HOSTILE, 'a', 'session', 'x', 'escaped'];
    const names = ids.map((id) => removalLogPath('', id).toLowerCase());
    expect(new Set(names).size).toBe(ids.length);
  });

  test('stays in its directory on every system', () => {
    const id = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HOSTILE));
    fc.assert(
      fc.property(id, (given) => {
        const name = basename(removalLogPath('/t', given));
        expect(posix.resolve('/t', name)).toBe(`/t/${name}`);
        expect(win32.resolve('C:\\t', name)).toBe(`C:\\t\\${name}`);
        expect(name).toMatch(/^[a-z0-9][a-z0-9_.-]*\.removals\.jsonl$/);
      }),
    );
  });

  test.each([undefined, null, 7, {}, ['a']])('refuses %j as an id', (id) => {
    expect(() => removalLogPath('/t', id as never)).toThrow(TypeError);
  });
});
