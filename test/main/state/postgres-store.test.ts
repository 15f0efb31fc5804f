import { describe, expect, it } from 'vitest';
import { postgresStore } from '../../../src/main/state/postgres-store.js';

const failure = (code?: string, message = 'No.'): Error =>
  Object.assign(new Error(message), { code });

/** A store over a pool that fails in these ways, one after the other, and then answers; `asked` counts. */
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
  it('asks again while the database restarts', async () => {
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

  it('gives up on one that is gone', async () => {
    const { store } = failing(Array.from({ length: 9 }, () => failure('ECONNREFUSED')));
    await expect(store.load('a')).rejects.toThrow('No.');
  });

  it.each([failure('23505'), failure('53100'), failure(undefined), failure('42P01')])(
    'does not ask again what is refused for another reason: $code',
    async (refusal) => {
      const { pool, store } = failing([refusal]);
      await expect(store.save('a', '{}', null)).rejects.toBe(refusal);
      expect(pool.asked).toBe(1);
    },
  );
});
