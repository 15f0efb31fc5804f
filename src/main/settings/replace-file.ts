// Replaces a file atomically: a reader, or a crash at any moment, finds either the whole old file or the whole new one.

import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Private to the owner: settings say something about an agent. */
const FILE_MODE = 0o600;

/**
 * Writes `text` to the file at `path`, accessible by its owner only. Resolves once the file is on disk. A symbolic link is
 * kept, and its target replaced. The folder must exist.
 *
 * @throws file system errors. The file is unchanged then, or it is the new one if only syncing its folder failed.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  // In the same folder: a rename is atomic only within a file system.
  const temporary = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      // Before the rename: otherwise a crash could leave the new name with an empty file.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

/** Errors of systems that cannot sync folders, or not this one. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Makes the rename durable. The file is already in place, so it is fine if the system cannot do this. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.includes((error as { readonly code?: unknown }).code)) throw error;
  }
}
