// Keeps a second writer away from a file: a lock file beside it that names its holder. A holder that
// has died is recognized, as nothing removes the lock of a killed process.

import { randomUUID } from 'node:crypto';
import { open, readFile, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from './transcript-errors.js';

/** A lock that is held. */
export interface FileLock {
  /** Removes the lock file, unless somebody else's stands there by now. */
  release(): Promise<void>;
}

interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** Tells a process from a later one with the same id; `null` where the system does not say. */
  readonly startedAt: string | null;
  /** Tells one lock from another. */
  readonly token: string;
}

/** A lock file is empty until its holder has been written to it; when it is older than this, its maker has died. */
const MAX_UNFINISHED_MS = 10_000;
const MAX_ATTEMPTS = 5;
/** Fields of `/proc/<pid>/stat` between the name in parentheses and the start time. */
const START_TIME_FIELD = 19;

/**
 * Takes the lock of a file.
 *
 * Whose holder runs on this host is taken over once that process is gone or its id belongs to another
 * one, also after a restart of a container in which every process has the same id. The lock of another
 * host is never taken over, because nothing here tells whether its holder lives.
 *
 * @throws Error with code `ELOCKED` while somebody holds it, telling who and what to do; the system's
 * error when the lock file cannot be made.
 */
export async function acquireFileLock(path: string): Promise<FileLock> {
  const lockPath = `${path}.lock`;
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    startedAt: await startOf(process.pid),
    token: randomUUID(),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (await createLock(lockPath, holder)) return { release: () => releaseLock(lockPath, holder) };
    const text = await readLock(lockPath);
    if (text === undefined) continue;
    if (await isHeld(lockPath, text)) throw lockedError(lockPath, parseHolder(text));
    if (!(await discardDeadLock(lockPath))) throw lockedError(lockPath, undefined);
  }
  throw lockedError(lockPath, undefined);
}

async function createLock(lockPath: string, holder: LockHolder): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(lockPath, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await handle.writeFile(JSON.stringify(holder));
  } catch (error) {
    // Made but not filled, as on a full disk: it must not keep others away.
    await unlink(lockPath);
    throw error;
  } finally {
    await handle.close();
  }
  return true;
}

async function releaseLock(lockPath: string, holder: LockHolder): Promise<void> {
  const text = await readLock(lockPath);
  if (text !== undefined && parseHolder(text)?.token === holder.token) await unlink(lockPath);
}

/**
 * Removes a lock whose holder has died. Two processes can find the same dead lock, and the slower one
 * must not remove the new lock of the faster one. So a dead lock is removed only by who has made the
 * guard file and found it dead once more: nobody else can put another one in its place meanwhile.
 *
 * @returns `false` when another process has the guard
 */
async function discardDeadLock(lockPath: string): Promise<boolean> {
  const guardPath = `${lockPath}.takeover`;
  if (!(await createGuard(guardPath))) return false;
  try {
    const text = await readLock(lockPath);
    if (text !== undefined && !(await isHeld(lockPath, text))) await unlink(lockPath);
  } finally {
    await unlink(guardPath);
  }
  return true;
}

/** The guard of a process that was killed in those few system calls is in the way until it is too old. */
async function createGuard(guardPath: string): Promise<boolean> {
  try {
    await (await open(guardPath, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    if (!(await isYoung(guardPath))) await unlink(guardPath).catch(() => undefined);
    return false;
  }
}

async function readLock(lockPath: string): Promise<string | undefined> {
  try {
    return await readFile(lockPath, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const { pid, host, startedAt, token } = JSON.parse(text) as Partial<LockHolder>;
    if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0) return undefined;
    if (typeof host !== 'string' || typeof token !== 'string') return undefined;
    return { pid, host, startedAt: typeof startedAt === 'string' ? startedAt : null, token };
  } catch {
    return undefined;
  }
}

async function isYoung(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < MAX_UNFINISHED_MS;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether the holder that a lock names may be alive, or is just being written to it. */
async function isHeld(lockPath: string, text: string): Promise<boolean> {
  const holder = parseHolder(text);
  return holder === undefined ? isYoung(lockPath) : isAlive(holder);
}

async function isAlive(holder: LockHolder): Promise<boolean> {
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Anything but "no such process", as "not permitted", means that there is one.
    if (systemCode(error) === 'ESRCH') return false;
  }
  const startedAt = await startOf(holder.pid);
  return holder.startedAt === null || startedAt === null || holder.startedAt === startedAt;
}

/** The boot of the system and the clock tick in it at which a process began, on Linux. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The name in parentheses may hold spaces and parentheses itself.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return `${boot.trim()}/${fields[START_TIME_FIELD] ?? ''}`;
  } catch {
    return null;
  }
}

function lockedError(lockPath: string, holder: LockHolder | undefined): Error {
  const who =
    holder === undefined ? 'another writer' : `process ${holder.pid} on host ${holder.host}`;
  const message =
    `${lockPath} is held by ${who}. Close that writer, or use another file; ` +
    'if it is gone for good, delete the lock file.';
  return Object.assign(new Error(message), { code: 'ELOCKED' });
}
