// What each failing step leaves behind: the file system is replaced by one that fails on demand.

import type * as FileSystem from 'node:fs/promises';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { replaceFile } from '../../../src/main/settings/profile.js';

/** Every step in order, and the one that fails, with its code. */
const disk = vi.hoisted(() => ({
  steps: [] as string[],
  failing: '',
  code: 'EIO',
  pass(step: string): void {
    this.steps.push(step);
    if (step === this.failing) {
      throw Object.assign(new Error(`${this.code}: ${step}`), { code: this.code });
    }
  },
}));

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof FileSystem>();
  const open: typeof original.open = async (path, flags, mode) => {
    const kind = flags === 'wx' ? 'file' : 'folder';
    disk.pass(`open ${kind}`);
    const handle = await original.open(path, flags, mode);
    return new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          // A descriptor is closed even if closing reports an error.
          if (name === 'close') await target.close();
          disk.pass(`${String(name)} ${kind}`);
          return name === 'close' ? undefined : Reflect.apply(value, target, args);
        };
      },
    });
  };
  const rename: typeof original.rename = async (from, to) => {
    disk.pass('rename');
    await original.rename(from, to);
  };
  return { ...original, open, rename };
});

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ctxfold-replace-'));
  path = join(folder, 'file');
  await writeFile(path, 'old');
  disk.steps = [];
  disk.failing = '';
  disk.code = 'EIO';
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('replaceFile', () => {
  it('syncs the file before the rename, and the folder after it', async () => {
    await replaceFile(path, 'new');
    expect(disk.steps).toEqual([
      'open file',
      'writeFile file',
      'sync file',
      'close file',
      'rename',
      'open folder',
      'sync folder',
      'close folder',
    ]);
    expect(await readFile(path, 'utf8')).toBe('new');
  });

  it.each(['open file', 'writeFile file', 'sync file', 'close file', 'rename'])(
    'leaves the old file and nothing else when this fails: %s',
    async (step) => {
      disk.failing = step;
      await expect(replaceFile(path, 'new')).rejects.toThrow(`EIO: ${step}`);
      expect(await readdir(folder)).toEqual(['file']);
      expect(await readFile(path, 'utf8')).toBe('old');
    },
  );

  it.each(['open folder', 'sync folder'])(
    'reports a disk that fails after the rename: %s',
    async (step) => {
      disk.failing = step;
      await expect(replaceFile(path, 'new')).rejects.toThrow(`EIO: ${step}`);
      expect(await readFile(path, 'utf8')).toBe('new');
    },
  );

  it.each(['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'])(
    'accepts a system that cannot sync folders: %s',
    async (code) => {
      disk.failing = 'sync folder';
      disk.code = code;
      await replaceFile(path, 'new');
      expect(await readdir(folder)).toEqual(['file']);
      expect(await readFile(path, 'utf8')).toBe('new');
    },
  );
});
