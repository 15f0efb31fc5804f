// Creates folders, and makes changes in them durable across a power failure.

import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../../shared/errors.js';

/** Error codes of systems that cannot sync folders at all, or cannot sync this folder. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Creates a folder and its missing parents (mode 0700), and syncs their parents so that they survive a power failure. */
export async function makeFolder(folder: string): Promise<void> {
  const parent = dirname(folder);
  // Not with `recursive`: where the system refuses to create a folder with ENOENT, as in /proc, Node never stops trying.
  const make = (): Promise<void> => mkdir(folder, { mode: 0o700 });
  try {
    await make().catch(async (error: unknown) => {
      if (systemCode(error) !== 'ENOENT' || parent === folder) throw error;
      await makeFolder(parent);
      await make();
    });
  } catch (error) {
    // Not judged by EEXIST: that is also the answer where there is a file, and Windows refuses the root of a drive with EPERM.
    if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return;
    throw error;
  }
  await syncFolder(parent);
}

/** Syncs a folder. Ignores systems that cannot do this: the entries are already in place, only not yet durable. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.includes(systemCode(error))) throw error;
  }
}

/** Resolves to `undefined` instead of rejecting with `ENOENT`. */
export async function ifThere<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
