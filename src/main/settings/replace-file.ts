// Puts a new file in the place of another: whoever reads, or crashes, at any moment finds the whole old
// file or the whole new one.

import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Of the owner alone: what a file says about an agent concerns nobody else. */
const FILE_MODE = 0o600;

/**
 * Writes `text` to the file at `path`, readable and writable by its owner alone. Resolves when the file
 * is on the disk. A link stays, and what it points to is replaced. Its folder must exist.
 *
 * @throws what the file system says. The file is as before then; or it is the new one, when all that
 *   failed was to make its name last.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  // In the same folder, as a rename is atomic within one file system only.
  const temporary = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      // Before the rename: otherwise a crash can leave the new name on a file without its content.
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

/** What systems answer that cannot sync a folder, or not this one. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Makes the rename itself last. The file is in place already, so that a system without this is fine. */
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
