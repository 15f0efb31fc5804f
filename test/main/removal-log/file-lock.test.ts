// Who holds a lock, and when it is taken over.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { acquireFileLock } from '../../../src/main/removal-log/file-lock.js';
import { parseHolder } from '../../../src/main/removal-log/lock-holder.js';
import { temporaryPath } from './recording.js';

const LOCKED = { code: 'ELOCKED' };
/** A lease that a test can wait for. */
const QUICK = { beatMs: 20, leaseMs: 60 };
/** A lease that is kept by a holder about to write to its lock, even on a busy machine. */
const SLOW = { beatMs: 160, leaseMs: 480 };
/** A lease that no test waits for. */
const ENDLESS = { beatMs: 3_600_000, leaseMs: 3_600_000 };

function deadProcessId(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

function holder(changes: object): string {
  const base = { pid: process.pid, host: hostname(), startedAt: null, token: 'other' };
  return JSON.stringify({ ...base, ...changes });
}

/** Holders whose death cannot be detected here. */
const SILENT = {
  'another host': () => holder({ pid: deadProcessId(), host: 'elsewhere' }),
  'another container with this host name': () => holder({ pid: 1, namespace: 'pid:[1]' }),
  'this process, which does not hold it': () => holder({}),
  'who never finished to make it': () => '',
};

describe('acquireFileLock', () => {
  test('gives the lock to one of many', async () => {
    const path = temporaryPath();
    await writeFile(`${path}.lock`, holder({ pid: deadProcessId() }));
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, () => acquireFileLock(path)),
    );
    const locks = attempts.flatMap((attempt) =>
      attempt.status === 'fulfilled' ? attempt.value : [],
    );
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
    expect(await readdir(dirname(path))).toEqual([]);
  });

  test('gives the lock of a silent holder to one of many', async () => {
    const path = temporaryPath();
    await writeFile(`${path}.lock`, holder({ host: 'elsewhere' }));
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, () => acquireFileLock(path, SLOW)),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === 'fulfilled') await attempt.value.release();
    }
    expect(await readdir(dirname(path))).toEqual([]);
  });

  // A time to come is one from before the clock was set back.
  test.each([1, 9_999_999_999])(
    'does not wait for another takeover, unless that was never finished, at %i',
    async (at) => {
      const path = temporaryPath();
      await writeFile(`${path}.lock`, holder({ pid: deadProcessId() }));
      await writeFile(`${path}.lock.takeover`, '');
      await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
      await utimes(`${path}.lock.takeover`, at, at);
      await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
      await (await acquireFileLock(path)).release();
      expect(await readdir(dirname(path))).toEqual([]);
    },
  );

  test('takes over at once from a process that has died', async () => {
    const path = temporaryPath();
    await writeFile(`${path}.lock`, holder({ pid: deadProcessId() }));
    await (await acquireFileLock(path, ENDLESS)).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test.skipIf(!existsSync('/proc/self/stat'))(
    'takes over at once from an earlier process with the same id',
    async () => {
      const path = temporaryPath();
      await writeFile(`${path}.lock`, holder({ startedAt: 'another boot/1' }));
      await (await acquireFileLock(path, ENDLESS)).release();
    },
  );

  test.each(Object.entries(SILENT))(
    'takes over after a lease without a heartbeat from %s',
    async (_name, text) => {
      const path = temporaryPath();
      await writeFile(`${path}.lock`, text());
      const start = performance.now();
      const lock = await acquireFileLock(path, QUICK);
      expect(performance.now() - start).toBeGreaterThanOrEqual(QUICK.leaseMs - 15);
      await lock.assertHeld();
      await lock.release();
    },
  );

  test.each(Object.entries(SILENT))('respects a heartbeat of %s', async (_name, text) => {
    const path = temporaryPath();
    await writeFile(`${path}.lock`, text());
    const acquiring = acquireFileLock(path, { beatMs: 40, leaseMs: 3_600_000 });
    let beats = 1;
    let beaten = Promise.resolve();
    const beat = (): Promise<void> => writeFile(`${path}.lock`, text() + ' '.repeat((beats += 1)));
    const beating = setInterval(() => void (beaten = beaten.then(beat)), 5);
    await expect(acquiring).rejects.toMatchObject(LOCKED);
    clearInterval(beating);
    await beaten;
  });

  test('refuses at once what this process holds', async () => {
    const path = temporaryPath();
    const lock = await acquireFileLock(path, ENDLESS);
    const before = await readFile(`${path}.lock`, 'utf8');
    await expect(acquireFileLock(path, ENDLESS)).rejects.toMatchObject(LOCKED);
    expect(await readFile(`${path}.lock`, 'utf8')).toBe(before);
    await lock.release();
  });

  test('renews the lease', async () => {
    const path = temporaryPath();
    const lock = await acquireFileLock(path, QUICK);
    const texts = new Set<string>();
    await expect
      .poll(async () => texts.add(await readFile(`${path}.lock`, 'utf8')).size, { interval: 5 })
      .toBeGreaterThan(3);
    await lock.assertHeld();
    await lock.release();
    expect(await readdir(dirname(path))).toEqual([]);
  });

  test('tells a holder that its lock was removed', async () => {
    const path = temporaryPath();
    const lock = await acquireFileLock(path, QUICK);
    await unlink(`${path}.lock`);
    await expect(lock.assertHeld()).rejects.toMatchObject({
      code: 'ELOCKLOST',
      message: expect.stringContaining('is gone') as string,
    });
    await lock.release();
  });

  test('tells a holder that it was taken over, and that holder then leaves the lock alone', async () => {
    const path = temporaryPath();
    const lock = await acquireFileLock(path, QUICK);
    await lock.assertHeld();
    const other = holder({ beats: 0 });
    await writeFile(`${path}.lock`, other);
    await expect(lock.assertHeld()).rejects.toMatchObject({ code: 'ELOCKLOST' });
    await lock.release();
    expect(await readFile(`${path}.lock`, 'utf8')).toBe(other);
  });
});

describe('parseHolder', () => {
  test('reads what names a process, and nothing else', () => {
    const read = { ...JSON.parse(holder({})), namespace: null } as object;
    expect(parseHolder(holder({ namespace: 1, startedAt: 2 }))).toEqual(read);
    const named = { namespace: 'pid:[1]', startedAt: 'boot/7' };
    expect(parseHolder(holder(named))).toEqual({ ...read, ...named });
    // `kill` takes 0 and less for groups of processes.
    const others = [
      { pid: 0 },
      { pid: -1 },
      { pid: 1.5 },
      { pid: undefined },
      { host: 1 },
      { token: 1 },
    ];
    for (const other of others) expect(parseHolder(holder(other))).toBeUndefined();
  });
});
