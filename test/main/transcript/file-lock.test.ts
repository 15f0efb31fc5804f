// Who holds a lock, and when it is taken over.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acquireFileLock } from '../../../src/main/transcript/file-lock.js';
import { temporaryPath } from './recording.js';

const LOCKED = { code: 'ELOCKED' };

function deadProcessId(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

function holder(changes: object): string {
  const base = { pid: process.pid, host: hostname(), startedAt: null, token: 'other' };
  return JSON.stringify({ ...base, ...changes });
}

describe('acquireFileLock', () => {
  test('gives the lock to one of many', async () => {
    const path = await temporaryPath();
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

  test('waits for no other takeover, unless that was never finished', async () => {
    const path = await temporaryPath();
    await writeFile(`${path}.lock`, holder({ pid: deadProcessId() }));
    await writeFile(`${path}.lock.takeover`, '');
    await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
    await utimes(`${path}.lock.takeover`, 1, 1);
    await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
    await (await acquireFileLock(path)).release();
    expect(await readdir(dirname(path))).toEqual([]);
  });

  test('takes over from a process that has died', async () => {
    const path = await temporaryPath();
    await writeFile(`${path}.lock`, holder({ pid: deadProcessId() }));
    await (await acquireFileLock(path)).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test.skipIf(!existsSync('/proc/self/stat'))(
    'takes over from an earlier process with the same id',
    async () => {
      const path = await temporaryPath();
      await writeFile(`${path}.lock`, holder({ startedAt: 'another boot/1' }));
      await (await acquireFileLock(path)).release();
    },
  );

  test('respects a process that lives, and one on another host', async () => {
    const path = await temporaryPath();
    for (const text of [holder({}), holder({ pid: deadProcessId(), host: 'elsewhere' })]) {
      await writeFile(`${path}.lock`, text);
      await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
      expect(await readFile(`${path}.lock`, 'utf8')).toBe(text);
    }
  });

  test('respects a lock that is just being made, not one that never was finished', async () => {
    const path = await temporaryPath();
    await writeFile(`${path}.lock`, '');
    await expect(acquireFileLock(path)).rejects.toMatchObject(LOCKED);
    await utimes(`${path}.lock`, 1, 1);
    await (await acquireFileLock(path)).release();
  });

  test('removes no lock of somebody else', async () => {
    const path = await temporaryPath();
    const lock = await acquireFileLock(path);
    await writeFile(`${path}.lock`, holder({}));
    await lock.release();
    expect(existsSync(`${path}.lock`)).toBe(true);
  });
});
