// Options are checked by zod, whose messages are configured for the whole process: that configuration belongs to the host.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { config } from 'zod/mini';
import { messageCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import { createCompactor } from '../../../src/index.js';

const before = config().localeError;

afterEach(() => {
  config({ localeError: before });
});

describe('an unknown option', () => {
  it.each([
    ['contextlimit', "did you mean 'contextLimit'?"],
    ['compression', "did you mean 'compression.strategy' of `settings`?"],
    ['threshold', "did you mean 'compression.threshold' of `settings`?"],
    ['shrink', "did you mean 'compression.density.shrink' of `settings`?"],
    ['edits', "did you mean 'edits' of createSession or of an adapter?"],
  ])('of a compactor is reported with its place: %s', (name, suggestion) => {
    expect(() => createCompactor({ [name]: 1 })).toThrow(`By "${name}", ${suggestion}`);
  });

  it('of a compactor is reported with the known ones if it resembles none', () => {
    expect(() => createCompactor({ modelName: 'a' } as object)).toThrow(
      /"modelName"\nKnown are .*contextLimit, /,
    );
  });

  it('of a price in a list is reported with its name', () => {
    const price = { input: 1, cacheRead: 0.1, cacheWrite: 1, lifetimes: [{ ttlms: 1 }] };
    expect(() => createCompactor({ prices: { mine: price as never } })).toThrow(
      `By "ttlms", did you mean 'ttlMs'?`,
    );
  });

  it.each([
    ['edit', "did you mean 'edits'?"],
    ['shrink', "did you mean 'shrink' of `density`?"],
    ['strategy', "did you mean 'compression.strategy' of the `settings` of createCompactor?"],
  ])('of a session or an adapter is reported with its place: %s', async (name, suggestion) => {
    await using compactor = createCompactor();
    const message = `"${name}" (${suggestion})`;
    await expect(compactor.createSession({ [name]: 1 })).rejects.toThrow(message);
    expect(() => messageCompactor(compactor, { [name]: 1 })).toThrow(message);
  });

  it('of an adapter may be one of its compactor', async () => {
    await using compactor = createCompactor();
    expect(() => messageCompactor(compactor, { contextLimit: 1 } as object)).toThrow(
      `"contextLimit" (did you mean 'contextLimit' of createCompactor?)`,
    );
  });
});

describe('messages of zod', () => {
  it('are in English in a host that uses another language', () => {
    config({ localeError: () => 'ungültig' });

    expect(() => createCompactor({ contextLimit: 0.5 })).toThrow(/expected a whole number/);
    expect(() => createCompactor({ threads: 0 })).toThrow(/expected number to be >=1/);
  });

  it('are not changed for the host when the package is loaded', () => {
    const program = `
      await import(${JSON.stringify(pathToFileURL(resolve('dist/index.js')).href)});
      console.log(JSON.stringify(globalThis.__zod_globalConfig));`;

    const args = ['--input-type=module', '--eval', program];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('{}\n');
  });
});
