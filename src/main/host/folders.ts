// Creates folders, and makes changes in them durable across a power failure.

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Error codes of systems that cannot sync folders at all, or cannot sync this folder. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Creates a folder and its missing parents (mode 0700), and syncs their parents so that they survive a power failure. */
export async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let at = folder; at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at));
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
    if (!CANNOT_SYNC_FOLDERS.includes((error as { readonly code?: unknown }).code)) throw error;
  }
}

/** Resolves to `undefined` instead of rejecting with `ENOENT`. */
export async function ifThere<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}
