// The folders of a removal log's path: new ones are synced before anything counts as recorded.

import type * as files from 'node:fs/promises';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RemovalLog } from '../../../src/main/removal-log/removal-log.js';

const synced = vi.hoisted(() => new Set<string>());

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  const open: typeof real.open = async (path, ...args) => {
    const handle = await real.open(path, ...args);
    const { sync } = handle;
    handle.sync = () => {
      synced.add(String(path));
      return sync.call(handle);
    };
    return handle;
  };
  return { ...real, open };
});

describe('RemovalLog.open', () => {
  let root = '';
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'ctxfold-folders-')));
  });
  afterAll(() => rm(root, { recursive: true }));

  it('syncs each folder with a new entry, because a power failure would otherwise lose the whole log', async () => {
    const path = join(root, 'of', 'one', 'session', 'log.removals.jsonl');
    const log = await RemovalLog.open(path);
    await log.close();
    const session = dirname(path);
    expect(synced).toEqual(new Set([session, dirname(session), dirname(dirname(session)), root]));
    synced.clear();
    await (await RemovalLog.open(path)).close();
    expect(synced).toEqual(new Set());
  });

  it.runIf(process.platform === 'linux')('ends where the system creates no folders', async () => {
    await expect(RemovalLog.open('/proc/none/of/this/log.jsonl')).rejects.toThrow(/ENOENT/);
  });
});
