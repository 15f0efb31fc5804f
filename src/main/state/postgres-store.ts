// A store in PostgreSQL that uses the host's pool: two tables, created by an idempotent migration. Loads no client.

import { setTimeout as after } from 'node:timers/promises';
import { asRecord, asText } from '../../shared/json.js';
import { hasFunctions, kindOf } from '../../shared/misuse.js';
import { completeStoreOptions } from './state-store.js';
import type { StateStore, StoreOptions } from './state-store.js';

/** A pool or client of `pg`, opened and closed by its owner. */
export interface PostgresClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/**
 * Creates the store's tables and indexes. Idempotent, even if all servers of a fleet run it at once. It takes a lock, because
 * concurrent `IF NOT EXISTS` statements can fail in PostgreSQL.
 */
export const POSTGRES_MIGRATION = `
SELECT pg_advisory_xact_lock(hashtext('ctxfold_states'));
CREATE TABLE IF NOT EXISTS ctxfold_states (
  key text PRIMARY KEY,
  version bigint NOT NULL,
  state text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS ctxfold_states_expires_at ON ctxfold_states (expires_at);
CREATE TABLE IF NOT EXISTS ctxfold_originals (
  key text NOT NULL,
  name text NOT NULL,
  original text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (key, name)
);
CREATE INDEX IF NOT EXISTS ctxfold_originals_expires_at ON ctxfold_originals (expires_at);
`;

const LATER = "now() + $1 * interval '1 millisecond'";
const LOAD =
  "SELECT version, state FROM ctxfold_states WHERE key = $1 AND state <> '' AND expires_at > now()";
/** The first version is the time in ms. If it were 1, a version known from a swept row could match a new row of another process. */
const FIRST_VERSION = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const INSERT = `
INSERT INTO ctxfold_states (key, version, state, expires_at) VALUES ($2, ${FIRST_VERSION}, $3, ${LATER})
ON CONFLICT (key) DO UPDATE SET version = ctxfold_states.version + 1, state = $3, expires_at = ${LATER}
WHERE ctxfold_states.expires_at <= now() OR ctxfold_states.state = '' RETURNING version`;
const UPDATE = `
UPDATE ctxfold_states SET version = version + 1, state = $3, expires_at = ${LATER}
WHERE key = $2 AND version = $4 AND state <> '' AND expires_at > now() RETURNING version`;
/** Empties the state, which counts as no state, and keeps the row, so that version numbers are not reused. */
const DELETE = `UPDATE ctxfold_states SET state = '', expires_at = ${LATER} WHERE key = $2`;

/** Originals are kept for as long as the state of their key, which each save extends. */
const IS_KEPT = `(expires_at > now() OR EXISTS (SELECT FROM ctxfold_states
WHERE ctxfold_states.key = ctxfold_originals.key AND state <> '' AND ctxfold_states.expires_at > now()))`;
const PUT = `
INSERT INTO ctxfold_originals (key, name, original, expires_at) VALUES ($2, $3, $4, ${LATER})
ON CONFLICT DO NOTHING`;
const GET = `SELECT original FROM ctxfold_originals WHERE key = $1 AND name = $2 AND ${IS_KEPT}`;

/** Makes a store from a pool. `POSTGRES_MIGRATION` must have run in its database. @throws TypeError for anything but a pool. */
export function postgresStore(client: PostgresClient, options: StoreOptions = {}): StateStore {
  if (!hasFunctions(client, ['query']))
    throw new TypeError(`Expected a pool of \`pg\`, got ${kindOf(client)}.`);
  const { ttlMs, limits } = completeStoreOptions(options);

  /** Retries a query while the database restarts (the pool reconnects but does not repeat queries), and after a serialization conflict. */
  const query: PostgresClient['query'] = async (text, values) => {
    for (const delayMs of RESTART_DELAYS_MS) {
      try {
        return await client.query(text, values);
      } catch (thrown) {
        if (!isPassing(thrown)) throw thrown;
        await after(delayMs, undefined, { ref: false });
      }
    }
    return client.query(text, values);
  };

  return {
    limits,
    load: async (key) => {
      const { rows } = await query(LOAD, [key]);
      const [row] = rows;
      if (row === undefined) return null;
      return { state: String(row['state']), version: Number(row['version']) };
    },
    save: async (key, state, expectedVersion) => {
      const values: unknown[] = [ttlMs, key, state];
      const { rows } =
        expectedVersion === null
          ? await query(INSERT, values)
          : await query(UPDATE, [...values, expectedVersion]);
      return rows[0] === undefined ? 'conflict' : Number(rows[0]['version']);
    },
    delete: async (key) => {
      await query(DELETE, [ttlMs, key]);
      await query('DELETE FROM ctxfold_originals WHERE key = $1', [key]);
    },
    put: async (key, name, original) => {
      await query(PUT, [ttlMs, key, name, original]);
    },
    get: async (key, name) => {
      const { rows } = await query(GET, [key, name]);
      return rows[0] === undefined ? null : String(rows[0]['original']);
    },
  };
}

/** Deletes expired rows; call it from a periodic job. Returns the number of deleted states. */
export async function sweepPostgres(client: PostgresClient): Promise<number> {
  await client.query(`DELETE FROM ctxfold_originals WHERE expires_at <= now() AND NOT ${IS_KEPT}`);
  const { rows } = await client.query(
    "WITH gone AS (DELETE FROM ctxfold_states WHERE expires_at <= now() RETURNING state) SELECT count(*) AS count FROM gone WHERE state <> ''",
  );
  return Number(rows[0]?.['count'] ?? 0);
}

/** Delays between the attempts. Their sum, 800 ms, is below the default deadline of a store. */
const RESTART_DELAYS_MS = [50, 150, 300, 300];

/**
 * Matches errors worth a retry: SQLSTATE classes of connection exceptions (08) and shutdowns (57P0), the system's connection errors,
 * and the message of `pg` for a lost connection. Also serialization failures (40001) and deadlocks (40P01), which strict isolation
 * levels raise if the row has changed: the repeated query sees the change.
 */
const PASSING = /^(?:08|57P0|40001|40P01|ECONN|EPIPE)|^Connection terminated/;

function isPassing(thrown: unknown): boolean {
  const { code, message } = asRecord(thrown) ?? {};
  return PASSING.test(asText(code) ?? asText(message) ?? '');
}
