import { Redis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isInstalled, startRedis } from '../../../examples/support/databases.js';
import { redisStore } from '../../../src/main/state/redis-store.js';

describe('redisStore', () => {
  it('passes arguments as a client, a sentinel and a cluster expect them', async () => {
    const passed: unknown[] = [];
    const note = async (...args: unknown[]): Promise<readonly string[]> => {
      passed.push(args);
      return ['1', 'state'];
    };
    const clients = [
      { sendCommand: (args: string[], _options?: object) => note(args) },
      { sendCommand: (isRead: boolean, args: string[], _options?: object) => note(isRead, args) },
      {
        sendCommand: (key: string, isRead: boolean, args: string[], _options?: object) =>
          note(key, isRead, args),
      },
    ];
    for (const client of clients) {
      expect(await redisStore(client).load('a')).toEqual({ state: 'state', version: 1 });
    }
    const command = ['HMGET', 'ctxfold:{a}', 'version', 'state'];
    expect(passed).toEqual([[command], [false, command], ['ctxfold:{a}', false, command]]);
  });

  it.each([undefined, 'redis://127.0.0.1', {}])('refuses anything but a client: %j', (given) => {
    expect(() => redisStore(given as never)).toThrow(
      /^Expected a client of `redis` or `ioredis`, got (?:undefined|a string|an object)/,
    );
  });

  describe.skipIf(!isInstalled('redis-server'))('over a server', () => {
    it('does not confuse a version from before it lost its data with a later one', async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const client = new Redis(server.port, '127.0.0.1');
      onTestFinished(() => client.disconnect());
      const store = redisStore(client);
      const versions = [await store.save('a', 'one', null)];
      versions.push(await store.save('a', 'two', versions[0] as number));
      await client.flushall();
      const first = await store.save('a', 'another', null);
      const second = await store.save('a', 'a third', first as number);
      for (const known of versions) {
        expect(await store.save('a', 'of before', known as number)).toBe('conflict');
        expect(known).toBeLessThan(first as number);
      }
      expect(await store.load('a')).toEqual({ state: 'a third', version: second });
    });

    it('reads the answers of a client that returns bytes', async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
      await client.connect();
      onTestFinished(() => client.close());
      const store = redisStore(client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }));
      const version = await store.save('a', 'état', null);
      await store.put?.('a', 'call', 'ça');
      expect(await store.load('a')).toEqual({ state: 'état', version });
      expect(await store.get?.('a', 'call')).toBe('ça');
    });
  });
});
