// What the writer acknowledges, in which order, and what a failure at any point leaves behind.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { RemovalLog } from '../../../src/main/removal-log/removal-log.js';
import { readRemovals } from '../../../src/main/removal-log/removal-reader.js';
import { CtxfoldError } from '../../../src/shared/errors.js';
import { toolContent, toolResponse } from '../../../src/shared/content.js';
import { sample } from '../../support/scale.js';
import {
  deferred,
  draft,
  lines,
  openWith,
  openWriter,
  recover,
  systemError,
  temporaryPath,
} from './recording.js';
import type { FileFaults } from './recording.js';

const FAILED = { code: 'REMOVAL_LOG_WRITE_FAILED' };

describe('RemovalLog', () => {
  test('keeps the order of appends that are not awaited', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    const texts = Array.from({ length: 30 }, (_, at) => `${at}`);
    await Promise.all(texts.map((text) => writer.append([draft(text)])));
    const { texts: found, skipped } = await recover(path);
    expect(found).toEqual(texts);
    expect(skipped).toEqual([]);
  });

  test('acknowledges after the sync and not before', async () => {
    const gate = deferred();
    const syncing = deferred();
    const openFile = openWith({
      datasync: (file) => {
        syncing.resolve();
        return gate.promise.then(() => file.datasync());
      },
    });
    const path = temporaryPath();
    const writer = await openWriter(path, { openFile });
    let isAcknowledged = false;
    const appended = writer.append([draft('a')]).then(() => {
      isAcknowledged = true;
    });
    await syncing.promise;
    expect((await recover(path)).texts).toEqual(['a']);
    expect(isAcknowledged).toBe(false);
    gate.resolve();
    await appended;
  });

  test('writes large appends piece by piece and reads them back', async () => {
    const path = temporaryPath();
    const sizes: number[] = [];
    const openFile = openWith({
      write: (file, bytes) => {
        sizes.push(bytes.length);
        return file.write(bytes);
      },
    });
    const writer = await openWriter(path, { openFile });
    const texts = Array.from({ length: 30 }, (_, at) => `${at}${'ü'.repeat(100_000)}`);
    await writer.append(texts.map((text) => draft(text)));
    expect(sizes.length).toBeGreaterThan(2);
    expect((await recover(path)).texts).toEqual(texts);
  });

  test('goes on after a write that was cut short', async () => {
    const path = temporaryPath();
    const openFile = openWith({
      write: (file, bytes) => file.write(bytes.subarray(0, Math.ceil(bytes.length / 3))),
    });
    const writer = await openWriter(path, { openFile });
    await writer.append([draft('a'), draft('b')]);
    expect(await recover(path)).toMatchObject({ texts: ['a', 'b'], skipped: [] });
  });

  test('numbers records by their offsets, also when it is opened again', async () => {
    const path = temporaryPath();
    for (const text of ['a', 'b', 'x'.repeat(600_000), 'd']) {
      const writer = await openWriter(path, { now: () => 5 });
      await writer.append([draft(text)]);
      await writer.close();
    }
    const reading = readRemovals(path);
    const offsets: number[] = [];
    for await (const { record, location } of reading) {
      expect(record).toMatchObject({ seq: location.offset, at: 5 });
      offsets.push(location.offset);
    }
    expect([offsets.length, reading.skipped]).toEqual([4, []]);
  });

  test('starts on a fresh line wherever the file was torn', async () => {
    const whole = Buffer.from(lines('a', 'b').join(''));
    const first = Buffer.byteLength(lines('a').join(''));
    const path = temporaryPath();
    const places = Array.from({ length: whole.length - first + 1 }, (_, at) => first + at);
    for (const kept of [...sample(places, 20), whole.length - 1]) {
      await writeFile(path, whole.subarray(0, kept));
      const writer = await RemovalLog.open(path);
      await writer.append([draft('new')]);
      await writer.close();
      const { texts } = await recover(path);
      const isWhole = kept >= whole.length - 1;
      expect(texts, `torn at ${kept}`).toEqual(isWhole ? ['a', 'b', 'new'] : ['a', 'new']);
    }
  });

  test('makes the file 0600 and its directories 0700', async () => {
    const path = temporaryPath(join('deep', 'er', 't.jsonl'));
    await openWriter(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    expect((await stat(`${path}.lock`)).mode & 0o777).toBe(0o600);
  });

  test('refuses a second writer until the first has closed', async () => {
    const path = temporaryPath();
    const first = await openWriter(path);
    await expect(RemovalLog.open(path)).rejects.toMatchObject({
      ...FAILED,
      message: expect.stringContaining(`process ${process.pid}`),
      cause: { code: 'ELOCKED' },
    });
    await symlink(dirname(path), `${dirname(path)}/self`);
    const detour = join(dirname(path), 'self', 'transcript.jsonl');
    await expect(RemovalLog.open(detour)).rejects.toMatchObject(FAILED);
    await first.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
    await (await openWriter(path)).append([draft('a')]);
  });

  test('refuses symbolic links, directories and pipes, and leaves no lock', async () => {
    const path = temporaryPath();
    const directory = dirname(path);
    await writeFile(join(directory, 'target'), 'mine');
    await symlink(join(directory, 'target'), join(directory, 'link'));
    await mkdir(join(directory, 'directory'));
    execFileSync('bash', ['-c', 'mkfifo "$0"', join(directory, 'pipe')]);
    for (const name of ['link', 'directory', 'pipe']) {
      await expect(RemovalLog.open(join(directory, name)), name).rejects.toMatchObject(FAILED);
      expect(existsSync(join(directory, `${name}.lock`))).toBe(false);
    }
    expect(await readFile(join(directory, 'target'), 'utf8')).toBe('mine');
  });

  test.each(['', 'a\0b', 'directory/', 7])('refuses %j as a path', async (path) => {
    await expect(RemovalLog.open(path as string)).rejects.toThrow(TypeError);
  });

  test('says what to do when it may not open the file', async () => {
    const openFile = () => Promise.reject(systemError('EACCES'));
    const path = temporaryPath();
    const error: unknown = await RemovalLog.open(path, { openFile }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CtxfoldError);
    expect(error).toMatchObject({
      ...FAILED,
      message: expect.stringMatching(/EACCES.+Permission was refused/),
    });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test.skipIf(!existsSync('/dev/full'))('reports a full disk', async () => {
    const path = temporaryPath();
    await writeFile(path, '');
    const openFile = () => open('/dev/full', 'a');
    const writer = await openWriter(path, { openFile });
    await expect(writer.append([draft('a')])).rejects.toMatchObject({
      ...FAILED,
      message: expect.stringMatching(/ENOSPC.+free some space/),
      cause: { code: 'ENOSPC' },
    });
  });

  // Someone deleted it: nothing more could be recorded in this session, and so nothing removed.
  test.each([
    ['file', (path: string) => unlink(path)],
    ['lock', (path: string) => unlink(`${path}.lock`)],
    ['folder', (path: string) => rm(dirname(path), { recursive: true })],
  ])('goes on when its %s was deleted', async (what, remove) => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    await writer.append([draft('a')]);
    await remove(path);
    await writer.append([draft('b')]);
    await writer.append([draft('c')]);
    expect((await recover(path)).texts).toEqual(what === 'lock' ? ['a', 'b', 'c'] : ['b', 'c']);
    await expect(RemovalLog.open(path)).rejects.toMatchObject({ cause: { code: 'ELOCKED' } });
    await writer.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('goes on once the path of its deleted folder is free again', async () => {
    const path = temporaryPath();
    const folder = dirname(path);
    const writer = await openWriter(path);
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    for (const text of ['a', 'b']) {
      await expect(writer.append([draft(text)])).rejects.toMatchObject({
        ...FAILED,
        message: expect.stringMatching(
          /^The removal log [^ ]+ could not be written \(\w+\)\. .*check the path/,
        ),
      });
    }
    await unlink(folder);
    await writer.append([draft('c')]);
    expect((await recover(path)).texts).toEqual(['c']);
  });

  test('goes on, and restores, when its file was renamed', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    const result = (callId: string) => {
      const entry = toolContent([toolResponse(callId, 'read_file', `of ${callId}`)]);
      return { ...draft(''), entry };
    };
    await writer.append([result('r1')]);
    await rename(path, `${path}.1`);
    await writeFile(path, '');
    await writer.append([result('r2')]);
    for (const callId of ['r1', 'r2']) {
      expect((await writer.restore(callId, { acrossSessions: true })).response.result).toBe(
        `of ${callId}`,
      );
    }
    expect((await recover(`${path}.1`)).records).toHaveLength(2);
    expect((await stat(path)).size).toBe(0);
  });

  test('goes on when its file was truncated', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    for (let at = 0; at < 20; at += 1) await writer.append([draft(`${at}`)]);
    await truncate(path, 0);
    await writer.append([draft('a')]);
    await writer.append([draft('b')]);
    const { texts, skipped } = await recover(path);
    expect([texts, skipped]).toEqual([['a', 'b'], []]);
  });

  test('goes on after failed writes', async () => {
    const path = temporaryPath();
    let isFull = true;
    const openFile = openWith({
      write: (file, bytes) => {
        if (isFull) throw systemError('ENOSPC');
        return file.write(bytes);
      },
    });
    const writer = await openWriter(path, { openFile });
    for (let at = 0; at < 20; at += 1) {
      await expect(writer.append([draft('x')])).rejects.toMatchObject(FAILED);
    }
    isFull = false;
    await writer.append([draft('a')]);
    await writer.append([draft('b')]);
    const { texts, skipped } = await recover(path);
    expect([texts, skipped]).toEqual([['a', 'b'], []]);
  });

  test('reads only new records for a restore, and returns its record', async () => {
    const path = temporaryPath();
    const reads: number[] = [];
    const openFile = openWith({
      read: (file, buffer, options) => {
        // An append looks at the last byte.
        if (buffer.length > 1) reads.push(options.position);
        return file.read(buffer, options);
      },
    });
    const writer = await openWriter(path, { openFile });
    const entry = toolContent([toolResponse('r1', 'read_file', 'x'.repeat(400_000))]);
    await writer.append([{ ...draft(''), entry }]);
    expect(reads).toEqual([]);
    await writer.restore('r1', { acrossSessions: true });
    expect(reads.length).toBeGreaterThan(2);
    reads.length = 0;
    const { size } = await stat(path);
    await writer.append([draft('more')]);
    await expect(writer.restore('r2', { acrossSessions: true })).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
    expect(reads).toEqual([size]);
  });

  test('finds what a new file has, although the deleted one is read meanwhile', async () => {
    const path = temporaryPath();
    const gate = deferred();
    const isRead = deferred();
    const openFile = openWith({
      read: async (file, buffer, options) => {
        const read = await file.read(buffer, options);
        isRead.resolve();
        await gate.promise;
        return read;
      },
    });
    const writer = await openWriter(path, { openFile });
    const result = (id: string) => ({
      ...draft(''),
      entry: toolContent([toolResponse(id, 'read_file', id)]),
    });
    await writer.append([result('r1'), result('r2')]);
    const restored = writer.restore('r1', { acrossSessions: true });
    await isRead.promise;
    await rm(path);
    await writer.append([result('r3')]);
    gate.resolve();
    expect((await restored).response.result).toBe('r1');
    await writer.append([result('r4'), result('r5')]);
    expect((await writer.restore('r3', { acrossSessions: true })).response.result).toBe('r3');
  });

  test('fails an append that cannot be encoded, and no other', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    const entry = toolContent([toolResponse('r1', 'read_file', 1n)]);
    const bad = writer.append([draft('b'), { ...draft(''), entry }, draft('never')]);
    const others = [writer.append([draft('c')]), writer.append([draft('d')])];
    await expect(bad).rejects.toMatchObject({ ...FAILED, cause: expect.any(TypeError) });
    await Promise.all(others);
    expect((await recover(path)).texts).toEqual(['c', 'd']);
  });

  test('writes nothing for an empty append', async () => {
    const path = temporaryPath();
    const writer = await openWriter(path);
    await writer.append([]);
    expect((await stat(path)).size).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('');
  });

  describe.each(['stat', 'write', 'datasync'] as const)('when the n-th %s fails', (operation) => {
    const kinds =
      operation === 'write' ? (['whole', 'partial', 'nothing'] as const) : (['whole'] as const);
    test.each(kinds)('loses nothing that it acknowledged (%s)', async (kind) => {
      let isClean = false;
      for (let failing = 1; !isClean; failing += 1) {
        // Opening reads the status, too.
        let calls = operation === 'stat' ? -1 : 0;
        let isTorn = false;
        const fail: NonNullable<FileFaults['write']> = async (file, bytes) => {
          calls += 1;
          const real = (): Promise<unknown> =>
            operation === 'write' ? file.write(bytes) : file[operation]();
          if (isTorn) {
            isTorn = false;
            throw systemError('ENOSPC');
          }
          if (calls !== failing) return real();
          if (kind === 'whole') throw systemError('EIO');
          if (kind === 'nothing') return { bytesWritten: 0 };
          isTorn = true;
          return file.write(bytes.subarray(0, bytes.length - 5));
        };
        const path = temporaryPath();
        const writer = await openWriter(path, { openFile: openWith({ [operation]: fail }) });
        const acknowledged: string[] = [];
        let failures = 0;
        for (const text of ['a', 'b', 'c', 'd', 'e']) {
          await writer.append([draft(`${text}1`), draft(`${text}2`)]).then(
            () => acknowledged.push(`${text}1`, `${text}2`),
            (error: unknown) => {
              failures += 1;
              expect(error).toMatchObject(FAILED);
            },
          );
        }
        await writer.close();
        const { texts, records } = await recover(path);
        expect(texts).toEqual(expect.arrayContaining(acknowledged));
        expect(new Set(records.map(({ seq }) => seq)).size).toBe(records.length);
        const again = await openWriter(path);
        await again.append([draft('again')]);
        await again.close();
        expect((await recover(path)).texts).toEqual([...texts, 'again']);
        isClean = failures === 0;
        expect(failures).toBeLessThanOrEqual(1);
        expect(acknowledged).toHaveLength(isClean ? 10 : 8);
      }
    });
  });

  describe('append with a signal', () => {
    test('leaves the queue when it aborts before its write begins', async () => {
      const path = temporaryPath();
      const writer = await openWriter(path);
      const controller = new AbortController();
      const first = writer.append([draft('a')]);
      const aborted = writer.append([draft('b')], controller.signal);
      const last = writer.append([draft('c')]);
      const reason = new Error('no more');
      controller.abort(reason);
      await expect(aborted).rejects.toBe(reason);
      await Promise.all([first, last]);
      expect((await recover(path)).texts).toEqual(['a', 'c']);
    });

    test('is refused when it has aborted already', async () => {
      const path = temporaryPath();
      const writer = await openWriter(path);
      const signal = AbortSignal.abort(new Error('before'));
      await expect(writer.append([draft('a')], signal)).rejects.toThrow('before');
      await expect(writer.append([], signal)).rejects.toThrow('before');
      expect((await recover(path)).texts).toEqual([]);
    });

    test('completes when it aborts during its write', async () => {
      const controller = new AbortController();
      const openFile = openWith({
        write: (file, bytes) => {
          controller.abort();
          return file.write(bytes);
        },
      });
      const path = temporaryPath();
      const writer = await openWriter(path, { openFile });
      await writer.append([draft('a')], controller.signal);
      expect((await recover(path)).texts).toEqual(['a']);
    });
  });

  describe('close', () => {
    test('writes what waits, then refuses more', async () => {
      const path = temporaryPath();
      const writer = await openWriter(path);
      const appended = writer.append([draft('a')]);
      await Promise.all([writer.close(), writer.close()]);
      await appended;
      await expect(writer.append([draft('b')])).rejects.toMatchObject({ code: 'CLOSED' });
      expect((await recover(path)).texts).toEqual(['a']);
      expect(existsSync(`${path}.lock`)).toBe(false);
    });

    test('gives up at its deadline and keeps the lock until the write has ended', async () => {
      const gate = deferred();
      const syncing = deferred();
      const closed = deferred();
      const openFile = openWith({
        datasync: () => {
          syncing.resolve();
          return gate.promise;
        },
        close: async (file) => {
          await file.close();
          closed.resolve();
        },
      });
      const path = temporaryPath();
      const writer = await openWriter(path, { openFile });
      const first = writer.append([draft('a')]);
      await syncing.promise;
      const second = writer.append([draft('b')]);
      const settled = Promise.allSettled([first, second]);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const closing = writer.close();
      vi.advanceTimersByTime(5_000);
      vi.useRealTimers();
      await closing;
      expect(await settled).toMatchObject([
        { status: 'rejected', reason: { code: 'CLOSED' } },
        { status: 'rejected', reason: { code: 'CLOSED' } },
      ]);
      await expect(RemovalLog.open(path)).rejects.toMatchObject(FAILED);
      gate.resolve();
      await closed.promise;
      await expect.poll(() => existsSync(`${path}.lock`)).toBe(false);
      expect((await recover(path)).texts).toEqual(['a']);
    });
  });
});
