// A lock on a log whose owner does not release it. If it kept others out forever, a conversation could never continue; if it
// let them in too early, two writers would tear each other's records.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

import { RemovalLog } from '../../src/main/removal-log/removal-log.js';
import { compileTranscript } from '../main/removal-log/compiled-sources.js';
import {
  draft,
  openWith,
  openWriter,
  recover,
  temporaryPath,
} from '../main/removal-log/recording.js';

const QUICK = { lockTiming: { beatMs: 40, leaseMs: 200 } };
const PROGRAM = fileURLToPath(new URL('../main/removal-log/writing-process.mjs', import.meta.url));
const LOST = { code: 'REMOVAL_LOG_WRITE_FAILED', cause: { code: 'ELOCKLOST' } };

/** The lock left by a container that was killed. */
async function leaveLock(path: string, changes: object): Promise<string> {
  const writer = await RemovalLog.open(path);
  await writer.append([draft('before')]);
  const text = await readFile(`${path}.lock`, 'utf8');
  await writer.close();
  const left = JSON.stringify({ ...(JSON.parse(text) as object), ...changes });
  await writeFile(`${path}.lock`, left);
  return left;
}

describe('the log of a holder that is gone', () => {
  test.each([
    ['container', { host: 'b7c1f0a2d9e4', token: 'gone' }],
    ['container with this host name', { pid: 1, namespace: 'pid:[1]', token: 'gone' }],
    ['writer of this process', { token: 'gone' }],
  ])('is taken over from a dead %s', async (_name, changes) => {
    const path = temporaryPath();
    await leaveLock(path, changes);
    const writer = await openWriter(path, QUICK);
    await writer.append([draft('after')]);
    expect((await recover(path)).texts).toEqual(['before', 'after']);
  });

  test('is not taken over from one that lives', async () => {
    const path = temporaryPath();
    const left = await leaveLock(path, { host: 'elsewhere', token: 'alive' });
    let beats = 0;
    const beating = setInterval(() => {
      beats += 1;
      void writeFile(`${path}.lock`, `${left}${' '.repeat(beats)}`, { flag: 'r+' });
    }, 10);
    onTestFinished(() => clearInterval(beating));
    await expect(RemovalLog.open(path, QUICK)).rejects.toMatchObject({
      code: 'REMOVAL_LOG_WRITE_FAILED',
      cause: { code: 'ELOCKED' },
    });
    await expect(RemovalLog.open(path, QUICK)).rejects.toThrow('on host elsewhere');
  });
});

describe('a writer that lost its lease', () => {
  test('writes no more', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    await writer.append([draft('mine')]);
    await leaveOther(path);
    await expect(writer.append([draft('late')])).rejects.toMatchObject(LOST);
    expect((await recover(path)).texts).toEqual(['mine']);
  });

  test('acknowledges nothing that it wrote while the lease was lost', async () => {
    const path = temporaryPath();
    let isSuspended = false;
    const openFile = openWith({
      write: async (file, bytes) => {
        if (isSuspended) await leaveOther(path);
        return file.write(bytes);
      },
    });
    const writer = await openWriter(path, { openFile });
    await writer.append([draft('mine')]);
    isSuspended = true;
    await expect(writer.append([draft('late')])).rejects.toMatchObject(LOST);
  });

  test('notices when it is resumed after it was suspended', async () => {
    const path = temporaryPath();
    const modulePath = await compileTranscript(dirname(path));
    const args = [PROGRAM, modulePath, path, '0', '20000'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const printed = readText(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    const writer = await openWriter(path, QUICK);
    await writer.append([draft('taken over')]);
    child.kill('SIGCONT');
    const lines = (await printed).trimEnd().split('\n');
    expect(lines.at(-1)).toBe('REMOVAL_LOG_WRITE_FAILED ELOCKLOST');
    await writer.append([draft('after')]);
    const { texts } = await recover(path);
    const numbers = texts.map((text) => text.split(':')[0]);
    // Everything that it had acknowledged is there, and so is what the other one wrote.
    expect(numbers).toEqual(expect.arrayContaining([...lines.slice(0, -1), 'taken over', 'after']));
  });
});

function leaveOther(path: string): Promise<void> {
  return writeFile(`${path}.lock`, JSON.stringify({ pid: 1, host: 'other', token: 'other' }));
}
