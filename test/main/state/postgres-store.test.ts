import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled, startPostgres } from '../../../examples/support/databases.js';
import {
  POSTGRES_MIGRATION,
  postgresStore,
  sweepPostgres,
} from '../../../src/main/state/postgres-store.js';

const failure = (code?: string, message = 'No.'): Error =>
  Object.assign(new Error(message), { code });

/** A store over a pool that fails with these errors one after the other, and then answers; `asked` counts. */
function failing(failures: readonly Error[]) {
  const left = [...failures];
  const pool = {
    asked: 0,
    query: async () => {
      pool.asked += 1;
      const next = left.shift();
      if (next !== undefined) throw next;
      return { rows: [{ version: '3', state: '{}' }] };
    },
  };
  return { pool, store: postgresStore(pool) };
}

describe('postgresStore', () => {
  it('retries while the database restarts', async () => {
    const restart = [
      failure('57P01', 'terminating connection due to administrator command'),
      failure('ECONNREFUSED'),
      failure('57P03', 'the database system is starting up'),
      failure(undefined, 'Connection terminated unexpectedly'),
    ];
    const { pool, store } = failing(restart);
    expect(await store.load('a')).toEqual({ state: '{}', version: 3 });
    expect(pool.asked).toBe(5);
    expect(await failing(restart).store.save('a', '{}', 2)).toBe(3);
  });

  it.each(['40001', '40P01'])(
    'retries where transactions are strictly isolated and another save was faster: %s',
    async (code) => {
      const { pool, store } = failing([failure(code, 'could not serialize access')]);
      expect(await store.save('a', '{}', 2)).toBe(3);
      expect(pool.asked).toBe(2);
    },
  );

  it('gives up on a database that is gone', async () => {
    const { store } = failing(Array.from({ length: 9 }, () => failure('ECONNREFUSED')));
    await expect(store.load('a')).rejects.toThrow('No.');
  });

  it.each([failure('23505'), failure('53100'), failure(undefined), failure('42P01')])(
    'does not retry what is refused for another reason: $code',
    async (refusal) => {
      const { pool, store } = failing([refusal]);
      await expect(store.save('a', '{}', null)).rejects.toBe(refusal);
      expect(pool.asked).toBe(1);
    },
  );
});

describe.skipIf(!isInstalled('postgres'))('postgresStore over a server', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let pool: Pool;

  beforeAll(async () => {
    server = await startPostgres();
    const options = '-c default_transaction_isolation=serializable';
    pool = new Pool({ host: '127.0.0.1', port: server.port, user: 'postgres', options });
    pool.on('error', () => undefined);
    await pool.query(POSTGRES_MIGRATION);
  });

  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  it('lets one of many saves win, and reports a conflict to the others, with strictly isolated transactions', async () => {
    const store = postgresStore(pool);
    let version: number | null = null;
    for (let round = 0; round < 30; round += 1) {
      const saves = Array.from({ length: 8 }, (_, at) =>
        store.save('a', `${round}.${at}`, version),
      );
      const outcomes: readonly (number | 'conflict')[] = await Promise.all(saves);
      const winners = outcomes.filter((outcome) => outcome !== 'conflict');
      expect(winners).toHaveLength(1);
      version = winners[0] ?? null;
    }
  });

  it('does not confuse the version of a swept row with a later one', async () => {
    const store = postgresStore(pool);
    const known = await store.save('b', 'former', null);
    await pool.query("UPDATE ctxfold_states SET expires_at = now() WHERE key = 'b'");
    await sweepPostgres(pool);
    await store.save('b', 'another', null);
    expect(await store.save('b', 'of before', known as number)).toBe('conflict');
  });
});
