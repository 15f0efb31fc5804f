// Opens the store that a command line or a configuration names. Loads the client of a server only when it is named.

import { CtxfoldError } from '../../shared/errors.js';
import { directoryStore } from './directory-store.js';
import { POSTGRES_MIGRATION, postgresStore } from './postgres-store.js';
import type { PostgresClient } from './postgres-store.js';
import { redisStore } from './redis-store.js';
import type { StateStore } from './state-store.js';

/** A store, with its connection. */
export interface OpenedStore {
  readonly store: StateStore;
  readonly close: () => Promise<void>;
}

/**
 * Opens a store by its name: `redis://…` or `rediss://…` by the package `ioredis`, `postgres://…` or `postgresql://…` by `pg`, where
 * the tables are made with the first operation, and anything else is the path of a directory. A server that is down makes operations
 * fail and not the opening. Whoever opens it closes it.
 *
 * @throws CtxfoldError `STORE_FAILED` when the package is not installed; TypeError for no name.
 */
export async function openStore(where: string): Promise<OpenedStore> {
  if (/^rediss?:\/\//.test(where)) return openRedis(where);
  if (/^postgres(ql)?:\/\//.test(where)) return openPostgres(where);
  return { store: directoryStore(where), close: () => Promise.resolve() };
}

async function openRedis(url: string): Promise<OpenedStore> {
  const { Redis } = await installed('ioredis', () => import('ioredis'));
  const client = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000 });
  // It connects again; what failed meanwhile is told by the operations.
  client.on('error', () => undefined);
  const close = (): Promise<void> => {
    client.disconnect();
    return Promise.resolve();
  };
  return { store: redisStore(client), close };
}

async function openPostgres(url: string): Promise<OpenedStore> {
  const { default: pg } = await installed('pg', () => import('pg'));
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    connectionTimeoutMillis: 2_000,
    allowExitOnIdle: true,
  });
  // One that its server has closed is replaced.
  pool.on('error', () => undefined);
  let tables: Promise<unknown> | undefined;
  const query: PostgresClient['query'] = async (text, values) => {
    tables ??= pool.query(POSTGRES_MIGRATION).catch((error: unknown) => {
      tables = undefined;
      throw error;
    });
    await tables;
    return pool.query(text, values);
  };
  return { store: postgresStore({ query }), close: () => pool.end() };
}

async function installed<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new CtxfoldError(
      `The store needs a package that is not installed: run \`npm install ${name}\`.`,
      'STORE_FAILED',
      { cause },
    );
  }
}
