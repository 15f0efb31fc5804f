// Makes folders, and makes what was done in them survive a power failure.

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Errors of systems that cannot sync folders, or not this one. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Makes a folder with those above it that are missing (mode 0700), so that a power failure leaves them. */
export async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let at = folder; at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at));
}

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

/** Resolves to `undefined` if the system says that something does not exist. */
export async function ifThere<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}
