// Opens the store named on a command line or in a configuration. Loads a database client only if it is needed.

import { CtxfoldError } from '../../shared/errors.js';
import { settledWithin } from '../waiting/abortable.js';
import { directoryStore } from './directory-store.js';
import { POSTGRES_MIGRATION, postgresStore } from './postgres-store.js';
import type { PostgresClient } from './postgres-store.js';
import { redisStore } from './redis-store.js';
import type { StateStore } from './state-store.js';

/** A store and its connection. */
export interface OpenedStore {
  readonly store: StateStore;
  readonly close: () => Promise<void>;
}

/**
 * Opens a store by name: `redis://…` or `rediss://…` with the package `ioredis`, `postgres://…` or `postgresql://…` with `pg`
 * (the first operation creates the tables), anything else as the path of a directory. If a server is down, opening succeeds and
 * operations fail. The caller closes the store.
 *
 * @throws CtxfoldError `STORE_FAILED` if the package is not installed; TypeError for an invalid name, which it does not quote: a URL
 *   may hold a password.
 */
export async function openStore(where: string): Promise<OpenedStore> {
  if (/^rediss?:\/\//.test(where)) return openRedis(where);
  if (/^postgres(ql)?:\/\//.test(where)) return openPostgres(where);
  return { store: directoryStore(where), close: () => Promise.resolve() };
}

/**
 * A connection without an answer for this long is replaced: after a failover its server may be gone without a word, which the system
 * notices only after a quarter of an hour. Longer for PostgreSQL, which goes on with a query of a lost connection, such as one that
 * waits for a lock.
 */
const REDIS_SILENCE_MS = 5_000;
const POSTGRES_SILENCE_MS = 30_000;

/** How long `close` waits for connections to close. */
const CLOSE_MS = 2_000;

async function openRedis(url: string): Promise<OpenedStore> {
  const { Redis } = await installed('ioredis', () => import('ioredis'));
  // A server restart of up to 0.75 s only delays an operation. After that the client rejects it with an error that names only the
  // number of retries, so `call` throws the connection's last error instead.
  const client = orInvalidUrl(
    () =>
      new Redis(url, {
        maxRetriesPerRequest: 5,
        retryStrategy: () => 150,
        connectTimeout: 2_000,
        socketTimeout: REDIS_SILENCE_MS,
      }),
  );
  let failure: Error | undefined;
  client.on('error', (error) => {
    failure = error;
  });
  client.on('ready', () => {
    failure = undefined;
  });
  const call = async (command: string, ...args: string[]): Promise<unknown> => {
    try {
      return await client.call(command, ...args);
    } catch (thrown) {
      throw failure ?? thrown;
    }
  };
  const close = (): Promise<void> => {
    client.disconnect();
    return Promise.resolve();
  };
  return { store: redisStore({ call }), close };
}

async function openPostgres(url: string): Promise<OpenedStore> {
  const { default: pg } = await installed('pg', () => import('pg'));
  const options = {
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: POSTGRES_SILENCE_MS,
  };
  // A pool would read the URL only with its first query.
  orInvalidUrl(() => new pg.Client(options));
  const pool = new pg.Pool({ ...options, max: 8, allowExitOnIdle: true });
  // The pool replaces a connection that the server has closed.
  pool.on('error', () => undefined);
  let tables: Promise<unknown> | undefined;
  const query: PostgresClient['query'] = async (text, values) => {
    tables ??= createTables(pool).catch((error: unknown) => {
      tables = undefined;
      throw error;
    });
    await tables;
    return pool.query(text, values);
  };
  // A pool waits for the server to close each connection.
  const close = (): Promise<void> => settledWithin(CLOSE_MS, pool.end(), true);
  return { store: postgresStore({ query }), close };
}

/** Runs the migration only if tables are missing: PostgreSQL requires the right to create tables even if they exist. */
async function createTables(client: PostgresClient): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass('ctxfold_originals')::text AS name");
  if (typeof rows[0]?.['name'] !== 'string') await client.query(POSTGRES_MIGRATION);
}

function orInvalidUrl<Client>(create: () => Client): Client {
  try {
    return create();
  } catch {
    throw new TypeError(
      'Expected the URL of a database, such as redis://127.0.0.1:6379 or postgres://127.0.0.1/agents.',
    );
  }
}

async function installed<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new CtxfoldError(
      `The store needs a package that is not installed beside ctxfold: run \`npm install ${name}\`.`,
      'STORE_FAILED',
      { cause },
    );
  }
}
