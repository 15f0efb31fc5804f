// The file behind a removal log, as a port of five operations, and its one real form. Knows no records.

import { constants } from 'node:fs';
import { mkdir, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from './removal-log-errors.js';

/** A file that bytes are added to. Each operation rejects with the system's error. */
export interface AppendFile {
  /** Size in bytes, and whether a directory still names the file. */
  status(): Promise<{ readonly sizeBytes: number; readonly isLinked: boolean }>;
  /** Adds bytes at the end; returns how many: a full disk or a size limit can cut a write short. */
  write(bytes: Uint8Array): Promise<number>;
  /** Reads from an offset on into a buffer; returns how many bytes, 0 behind the end. */
  read(buffer: Buffer, offset: number): Promise<number>;
  /** Resolves when all written bytes are on the device. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** What file systems say that cannot sync a directory. */
const NO_DIRECTORY_SYNC: ReadonlySet<string> = new Set(['EISDIR', 'EPERM', 'EINVAL', 'ENOTSUP']);

/** @throws TypeError when a path cannot be that of a file. */
export function assertFilePath(path: unknown): asserts path is string {
  const isFilePath = typeof path === 'string' && !path.includes('\0') && !/(?:^|[\\/])$/.test(path);
  if (!isFilePath) throw new TypeError(`Expected the path of a file, got ${JSON.stringify(path)}.`);
}

/**
 * Makes the directories of a path (0700) where they are missing, and returns the path with all
 * symbolic links of its directories resolved: one name for one file.
 */
export async function prepareParentDirectory(path: string): Promise<string> {
  const directory = dirname(resolve(path));
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  return join(await realpath(directory), basename(path));
}

/**
 * Opens a file for appending, and for reading it whatever its path names by then. A new one has mode 0600,
 * and its name is on the device before this resolves; one that exists keeps its mode. A symbolic link
 * in its place is refused with `ELOOP`, as it may lead anywhere, and so is what is no regular file.
 */
export async function openAppendFile(path: string): Promise<AppendFile> {
  const { handle, isNew } = await openHandle(path);
  try {
    if (!(await handle.stat()).isFile()) throw new TypeError('Expected a regular file.');
    if (isNew) await syncDirectory(dirname(path));
    return appendFileOf(handle);
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
    // Opening a pipe would wait for a reader.
    return { handle: await open(path, flags | constants.O_NONBLOCK), isNew: false };
  }
}

/** The port on an open handle. To write, it must be in append mode. */
export function appendFileOf(handle: FileHandle): AppendFile {
  return {
    status: async () => {
      const { size, nlink } = await handle.stat();
      return { sizeBytes: size, isLinked: nlink > 0 };
    },
    write: async (bytes) => (await handle.write(bytes)).bytesWritten,
    read: async (buffer, offset) => (await handle.read(buffer, 0, buffer.length, offset)).bytesRead,
    datasync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY);
    await handle.sync();
  } catch (error) {
    if (!NO_DIRECTORY_SYNC.has(systemCode(error) ?? '')) throw error;
  } finally {
    await handle?.close();
  }
}
