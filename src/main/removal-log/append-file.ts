// Opens the file of a removal log.

import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, syncFolder } from '../host/folders.js';
import { systemCode } from '../../shared/errors.js';

const FILE_MODE = 0o600;

/** @throws TypeError if the path cannot name a file. */
export function assertFilePath(path: unknown): asserts path is string {
  const isFilePath = typeof path === 'string' && !path.includes('\0') && !/(?:^|[\\/])$/.test(path);
  if (!isFilePath) throw new TypeError(`Expected the path of a file, got ${JSON.stringify(path)}.`);
}

/**
 * Creates the missing directories of a path (0700) and returns the path with all symbolic links of its
 * directories resolved, so that a file has one name.
 */
export async function prepareParentDirectory(path: string): Promise<string> {
  const directory = dirname(resolve(path));
  await makeFolder(directory);
  return join(await realpath(directory), basename(path));
}

/**
 * Opens a file for appending and reading. A new file has mode 0600, and its directory entry is on disk
 * before this resolves; an existing one keeps its mode. Refuses a symbolic link (`ELOOP`), because its
 * target may be anywhere, and anything but a regular file.
 */
export async function openAppendFile(path: string): Promise<FileHandle> {
  const { handle, isNew } = await openHandle(path);
  try {
    if (!(await handle.stat()).isFile()) throw new TypeError('Expected a regular file.');
    if (isNew) await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openHandle(
  path: string,
): Promise<{ readonly handle: FileHandle; readonly isNew: boolean }> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    const newFlags = flags | constants.O_CREAT | constants.O_EXCL;
    return { handle: await open(path, newFlags, FILE_MODE), isNew: true };
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    // Without O_NONBLOCK, opening a named pipe would block until it has a reader.
    return { handle: await open(path, flags | constants.O_NONBLOCK), isNew: false };
  }
}
