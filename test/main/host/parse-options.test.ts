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
  const of = (name: string, place: string): string => `did you mean '${name}' of ${place}?`;

  it.each([
    ['contextlimit', "did you mean 'contextLimit'?"],
    ['compression', of('compression.strategy', '`settings`')],
    ['threshold', of('compression.threshold', '`settings`')],
    ['shrink', of('compression.density.shrink', '`settings`')],
    ['toolCatalog', of('toolCatalog', '`density`')],
    ['edits', of('edits', 'createSession or of an adapter')],
    ['sessionId', of('sessionId', 'createSession')],
    ['maxConversations', of('maxConversations', 'an adapter')],
    ['modelName', of('modelName', 'each call of a message compactor')],
  ])('of a compactor is reported with its place: %s', (name, suggestion) => {
    expect(() => createCompactor({ [name]: 1 })).toThrow(
      `there is no option "${name}" (${suggestion}).`,
    );
  });

  it('of a compactor is reported with the known ones if it resembles none', () => {
    expect(() => createCompactor({ colour: 'a' } as object)).toThrow(
      /no option "colour"\. Known are .*contextLimit, /,
    );
  });

  it('of a price in a list is reported with its name', () => {
    const price = { input: 1, cacheRead: 0.1, cacheWrite: 1, lifetimes: [{ ttlms: 1 }] };
    expect(() => createCompactor({ prices: { mine: price as never } })).toThrow(
      `there is no option "ttlms" (did you mean 'ttlMs'?).\n  → at prices.mine.lifetimes[0]`,
    );
  });

  it.each([
    ['edit', "did you mean 'edits'?"],
    ['shrink', of('shrink', '`density`')],
    ['strategy', of('compression.strategy', 'the `settings` of createCompactor')],
    ['contextLimit', of('contextLimit', 'createCompactor')],
    ['conversationId', of('conversationId', 'each call of a message compactor')],
  ])('of a session or an adapter is reported with its place: %s', async (name, suggestion) => {
    await using compactor = createCompactor();
    const message = `"${name}" (${suggestion})`;
    await expect(compactor.createSession({ [name]: 1 })).rejects.toThrow(message);
    expect(() => messageCompactor(compactor, { [name]: 1 })).toThrow(message);
  });

  it('may be one of an adapter where one of a session is due, and the reverse', async () => {
    await using compactor = createCompactor();
    const onSession = `"onSession" (${of('onSession', 'an adapter')})`;
    await expect(compactor.createSession({ onSession: 1 } as object)).rejects.toThrow(onSession);
    const history = `"history" (${of('history', 'createSession')})`;
    expect(() => messageCompactor(compactor, { history: [] } as object)).toThrow(history);
  });

  it.each(['edits', 'contextLimit'] as const)(
    'of `density` and of a call is reported with its place: %s',
    async (name) => {
      await using compactor = createCompactor();
      const place = name === 'edits' ? 'createSession or of an adapter' : 'createCompactor';
      const message = `"${name}" (${of(name, place)})`;
      const density = compactor.createSession({ density: { [name]: 1 } });
      await expect(density).rejects.toThrow(message);
      const compact = messageCompactor(compactor, { onError: 'throw' });
      await expect(compact([], { [name]: 1 })).rejects.toThrow(message);
    },
  );
});

describe('messages of zod', () => {
  it.each([
    [{ contextLimit: 0 }, 'expected number to be >0, got the number 0\n  → at contextLimit'],
    [{ threads: 1.5 }, 'expected int, got the number 1.5\n  → at threads'],
    [{ offload: 'auot' }, '"inline", got the string "auot"'],
    [{ logger: 'x' }, 'with the functions debug, warn and error, got the string "x"'],
    [{ prices: { mine: null } }, 'expected object, got null\n  → at prices.mine'],
  ])('say what was given: %j', (options, message) => {
    expect(() => createCompactor(options as object)).toThrow(message);
  });

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
