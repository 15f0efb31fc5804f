// Makes what was done to the entries of a folder survive a power failure.

import { open } from 'node:fs/promises';

/** Errors of systems that cannot sync folders, or not this one. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Syncs a folder. The entries are in place already, so it is fine if the system cannot do this. */
export async function syncFolder(folder: string): Promise<void> {
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
