// The contract of every store: one suite for all four stores, with the clients that they accept.

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import fc from 'fast-check';
import { Cluster, Redis } from 'ioredis';
import { Pool } from 'pg';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { directoryStore } from '../../src/main/state/directory-store.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import { openStore } from '../../src/main/state/open-store.js';
import {
  POSTGRES_MIGRATION,
  postgresStore,
  sweepPostgres,
} from '../../src/main/state/postgres-store.js';
import { redisStore } from '../../src/main/state/redis-store.js';
import type { StateStore, StoreOptions } from '../../src/main/state/state-store.js';
import {
  freePort,
  isInstalled,
  startPostgres,
  startRedis,
} from '../../examples/support/databases.js';
import { runs } from '../support/scale.js';

interface OpenedStore {
  readonly make: (options?: StoreOptions) => StateStore;
  /** Lets expiring keys expire, and sweeps, if a store's originals expire apart from their state. */
  readonly age?: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

interface StoreKind {
  readonly name: string;
  /** The server that it needs. */
  readonly command?: string;
  readonly open: () => Promise<OpenedStore>;
}

const KINDS: readonly StoreKind[] = [
  {
    name: 'memoryStore',
    open: async () => {
      const stores = new Map<string, StateStore>();
      const make = (options?: StoreOptions): StateStore => {
        const key = JSON.stringify(options ?? {});
        const store = stores.get(key) ?? memoryStore(options);
        stores.set(key, store);
        return store;
      };
      return { make, close: async () => undefined };
    },
  },
  {
    name: 'directoryStore',
    open: async () => {
      const path = await mkdtemp(join(tmpdir(), 'ctxfold-states-'));
      return {
        make: (options) => directoryStore(join(path, 'states'), options),
        close: () => rm(path, { recursive: true }),
      };
    },
  },
  {
    name: 'redisStore over redis',
    command: 'redis-server',
    open: async () => {
      const server = await startRedis();
      const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
      await client.connect();
      return {
        make: (options) => redisStore(client, options),
        close: async () => {
          await client.close();
          await server.stop();
        },
      };
    },
  },
  {
    name: 'redisStore over ioredis',
    command: 'redis-server',
    open: async () => {
      const server = await startRedis();
      const client = new Redis(server.port, '127.0.0.1');
      return {
        make: (options) => redisStore(client, options),
        close: async () => {
          await client.quit();
          await server.stop();
        },
      };
    },
  },
  {
    name: 'redisStore over a cluster of redis',
    command: 'redis-server',
    open: async () => {
      const server = await startCluster();
      const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }] });
      await cluster.connect();
      return {
        make: (options) => redisStore(cluster, options),
        close: async () => {
          await cluster.close();
          await server.stop();
        },
      };
    },
  },
  {
    name: 'redisStore over a cluster of ioredis',
    command: 'redis-server',
    open: async () => {
      const server = await startCluster();
      const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
      return {
        make: (options) => redisStore(cluster, options),
        close: async () => {
          await cluster.quit();
          await server.stop();
        },
      };
    },
  },
  {
    name: 'postgresStore',
    command: 'postgres',
    open: async () => {
      const server = await startPostgres();
      const pool = new Pool({ host: '127.0.0.1', port: server.port, user: 'postgres' });
      // A connection that its server closed emits an error, and is replaced.
      pool.on('error', () => undefined);
      // Like the servers of a fleet that start at the same time.
      await Promise.all(Array.from({ length: 8 }, () => pool.query(POSTGRES_MIGRATION)));
      return {
        make: (options) => postgresStore(pool, options),
        age: async () => {
          await pool.query('UPDATE ctxfold_originals SET expires_at = now()');
          await sweepPostgres(pool);
        },
        close: async () => {
          expect(await sweepPostgres(pool)).toBeGreaterThanOrEqual(0);
          await pool.end();
          await server.stop();
        },
      };
    },
  },
];

/** A cluster of one node, which refuses a script whose keys would be on two. */
async function startCluster(): ReturnType<typeof startRedis> {
  const bus = ['--cluster-announce-ip', '127.0.0.1', '--cluster-port', String(await freePort())];
  const server = await startRedis('--cluster-enabled', 'yes', ...bus);
  const node = new Redis(server.port, '127.0.0.1');
  await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  await node.quit();
  return server;
}

let keys = 0;
const newKey = (): string => `named-${(keys += 1)}`;

for (const { name, command, open } of KINDS) {
  const isThere = command === undefined || isInstalled(command);
  const title = isThere ? name : `${name} (skipped: ${command} is not installed)`;
  describe.skipIf(!isThere)(title, () => {
    let opened: OpenedStore;
    let store: StateStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.make();
    });
    afterAll(() => opened.close());

    it('loads nothing for an unknown key', async () => {
      expect(await store.load(newKey())).toBeNull();
      expect(await store.get?.(newKey(), 'call')).toBeNull();
    });

    it('loads what was saved, whatever characters it has', async () => {
      const key = newKey();
      const state = JSON.stringify({ text: '😀 " \\ \n \u0001 é', long: 'x'.repeat(300_000) });
      const version = await store.save(key, state, null);
      expect(await store.load(key)).toEqual({ state, version });
    });

    it('only overwrites the expected version', async () => {
      const key = newKey();
      const first = await store.save(key, 'one', null);
      expect(await store.save(key, 'two', null)).toBe('conflict');
      const second = await store.save(key, 'two', first as number);
      expect(second).not.toBe(first);
      expect(await store.save(key, 'three', first as number)).toBe('conflict');
      expect(await store.load(key)).toEqual({ state: 'two', version: second });
    });

    it('lets one of several concurrent saves win', async () => {
      const key = newKey();
      let version: number | null = null;
      for (let round = 0; round < 4; round += 1) {
        const others = Array.from({ length: 8 }, () => opened.make());
        const outcomes: readonly (number | 'conflict')[] = await Promise.all(
          others.map((other, at) => other.save(key, `round ${round}, writer ${at}`, version)),
        );
        const winners = outcomes.flatMap((outcome, at) => (outcome === 'conflict' ? [] : [at]));
        expect(winners).toHaveLength(1);
        const loaded = await store.load(key);
        expect(loaded?.state).toBe(`round ${round}, writer ${String(winners[0])}`);
        version = loaded?.version ?? null;
      }
    });

    it('deletes a state with its originals', async () => {
      const key = newKey();
      await store.save(key, 'state', null);
      await store.put?.(key, 'call', 'original');
      await store.delete(key);
      expect(await store.load(key)).toBeNull();
      expect(await store.get?.(key, 'call')).toBeNull();
      expect(await store.save(key, 'anew', null)).toBeTypeOf('number');
    });

    it('keeps the first original of a name, per key', async () => {
      const [key, other] = [newKey(), newKey()];
      await store.put?.(key, 'toolu_1/../x', 'original');
      await store.put?.(key, 'toolu_1/../x', 'a stand-in');
      expect(await store.get?.(key, 'toolu_1/../x')).toBe('original');
      expect(await store.get?.(other, 'toolu_1/../x')).toBeNull();
      expect(await store.load(key)).toBeNull();
    });

    it('keeps originals as long as the state of their key', async () => {
      const [key, other] = [newKey(), newKey()];
      await store.save(key, 'state', null);
      for (const each of [key, other]) await store.put?.(each, 'call', 'original');
      await opened.age?.();
      expect(await store.get?.(key, 'call')).toBe('original');
      if (opened.age !== undefined) expect(await store.get?.(other, 'call')).toBeNull();
      await store.delete(key);
      expect(await store.get?.(key, 'call')).toBeNull();
    });

    it('deletes expired states, and accepts a new state for the key', async () => {
      const key = newKey();
      const brief = opened.make({ ttlMs: 40 });
      await brief.save(key, 'state', null);
      // By its own clock.
      await expect.poll(() => brief.load(key)).toBeNull();
      expect(await brief.save(key, 'another', null)).toBeTypeOf('number');
    });

    it('keeps a state without expiry', async () => {
      const key = newKey();
      const lasting = opened.make({ ttlMs: Infinity });
      const version = await lasting.save(key, 'state', null);
      await lasting.put?.(key, 'call', 'original');
      expect(await lasting.load(key)).toEqual({ state: 'state', version });
      expect(await lasting.get?.(key, 'call')).toBe('original');
    });

    it('refuses to save over a version that was deleted meanwhile, whatever was saved after it', async () => {
      const key = newKey();
      const known = await store.save(key, 'former', null);
      for (const next of ['another', 'a third']) {
        await store.delete(key);
        expect(await store.save(key, 'of before', known as number)).toBe('conflict');
        expect(await store.load(key)).toBeNull();
        const version = await store.save(key, next, null);
        // That would overwrite the state that another conversation with the same beginning has saved.
        expect(await store.save(key, 'of before', known as number)).toBe('conflict');
        expect(await store.save(key, 'of nobody', null)).toBe('conflict');
        expect(await store.load(key)).toEqual({ state: next, version });
      }
    });

    it('gives the result of a serial order, however two writers interleave', async () => {
      const doing = fc.constantFrom('load', 'load', 'save', 'save', 'delete');
      const step = fc.record({ writer: fc.nat(1), does: doing });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const key = newKey();
          const versions = new Set<number>();
          const known: (number | null)[] = [null, null];
          let model: { state: string; version: number } | null = null;
          for (const [at, { writer, does }] of steps.entries()) {
            if (does === 'delete') {
              await store.delete(key);
              model = null;
              continue;
            }
            if (does === 'load') {
              const loaded = await store.load(key);
              expect(loaded).toEqual(model);
              known[writer] = loaded?.version ?? null;
              continue;
            }
            const expected = known[writer] ?? null;
            const outcome = await store.save(key, `step ${at}`, expected);
            expect(outcome === 'conflict').toBe(expected !== (model?.version ?? null));
            if (outcome === 'conflict') continue;
            expect(versions.has(outcome)).toBe(false);
            versions.add(outcome);
            model = { state: `step ${at}`, version: outcome };
            known[writer] = outcome;
          }
        }),
        { numRuns: runs(500) },
      );
    });
  });
}

describe('openStore', () => {
  it('rejects with the reason why Redis cannot be reached, not with the number of attempts', async () => {
    const { store, close } = await openStore(`redis://127.0.0.1:${await freePort()}`);
    onTestFinished(close);
    await expect(store.load('key')).rejects.toThrow(/ECONNREFUSED|ETIMEDOUT/);
  });

  it.skipIf(!isInstalled('redis-server'))('retries while Redis restarts', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    let refusals = 2;
    const proxy = createServer((socket) => {
      socket.on('error', () => undefined);
      refusals -= 1;
      if (refusals >= 0) socket.destroy();
      else pipeline(socket, connect(server.port, '127.0.0.1'), socket, () => undefined);
    });
    const port = await freePort();
    await once(proxy.listen(port, '127.0.0.1'), 'listening');
    onTestFinished(() => void proxy.close());
    const { store, close } = await openStore(`redis://127.0.0.1:${port}`);
    expect(await store.save('key', 'state', null)).toBeTypeOf('number');
    await close();
  });

  const DATABASES = [
    { command: 'redis-server', start: startRedis, server: 'redis://127.0.0.1', path: '' },
    {
      command: 'postgres',
      start: startPostgres,
      server: 'postgres://postgres@127.0.0.1',
      path: '/postgres',
    },
  ];
  it.each(DATABASES.filter(({ command }) => isInstalled(command)))(
    'replaces connections to $command that have become silent, and closes whatever they do',
    async ({ start, server, path }) => {
      const database = await start();
      onTestFinished(() => database.stop());
      const sockets: Socket[] = [];
      const silent = new Set<Socket>();
      const heard: (() => void)[] = [];
      const relay = (from: Socket, to: Socket): void => {
        sockets.push(from);
        from.on('error', () => undefined);
        from.on('data', (bytes) => {
          if (silent.has(from)) heard.splice(0).forEach((hear) => hear());
          else to.write(bytes);
        });
      };
      const proxy = createServer((socket) => {
        const remote = connect(database.port, '127.0.0.1');
        relay(socket, remote);
        relay(remote, socket);
      });
      const port = await freePort();
      await once(proxy.listen(port, '127.0.0.1'), 'listening');
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
        proxy.close();
      });
      /** As if the server were gone without a word. */
      const silence = (): void => {
        for (const socket of sockets) silent.add(socket);
      };

      const { store, close } = await openStore(`${server}:${port}${path}`);
      const version = await store.save('key', 'state', null);
      silence();
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const ask = async (): Promise<{ readonly answer: Promise<unknown> }> => {
        const isHeard = new Promise<void>((resolve) => heard.push(resolve));
        const answer = store.load('key').catch(() => undefined);
        await isHeard;
        return { answer };
      };
      const { answer } = await ask();
      vi.advanceTimersByTime(30_000);
      vi.useRealTimers();
      await answer;
      expect(await store.load('key')).toEqual({ state: 'state', version });
      silence();
      let isSettled = false;
      void (await ask()).answer.then(() => (isSettled = true));
      await close();
      expect(isSettled).toBe(false);
    },
  );

  it.skipIf(!isInstalled('postgres'))(
    'creates missing tables in PostgreSQL, and needs no right to create existing ones',
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      const urlOf = (user: string): string =>
        `postgres://${user}@127.0.0.1:${server.port}/postgres`;
      const owner = await openStore(urlOf('postgres'));
      const version = await owner.store.save('key', 'state', null);
      await owner.close();
      const pool = new Pool({ connectionString: urlOf('postgres') });
      // The server may stop before the connection is closed.
      pool.on('error', () => undefined);
      await pool.query('CREATE ROLE app LOGIN');
      await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ctxfold_states TO app');
      await pool.end();
      const app = await openStore(urlOf('app'));
      expect(await app.store.load('key')).toEqual({ state: 'state', version });
      await app.close();
    },
  );
});
