// Options are checked by zod, whose messages are set for the whole process: that setting is the host's.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { config } from 'zod/mini';
import { createCompactor } from '../../../src/index.js';

const before = config().localeError;

afterEach(() => {
  config({ localeError: before });
});

describe('messages of zod', () => {
  it('are in English in a host that speaks another language', () => {
    config({ localeError: () => 'ungültig' });

    expect(() => createCompactor({ contextLimit: 0.5 })).toThrow(/expected a whole number/);
    expect(() => createCompactor({ threads: 0 })).toThrow(/expected number to be >=1/);
  });

  it('are left to the host when the package is loaded', () => {
    const program = `
      await import(${JSON.stringify(pathToFileURL(resolve('dist/index.js')).href)});
      console.log(JSON.stringify(globalThis.__zod_globalConfig));`;

    const args = ['--input-type=module', '--eval', program];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('{}\n');
  });
});
