// A lock file with a lease, which keeps a second writer away from a file. The holder renews the lease. If it stops, another process
// takes the lock over, and the former holder must notice that before it writes again.

import { open, readFile, stat, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ifThere } from '../host/folders.js';
import { isGone, lockText, newHolder, parseHolder } from './lock-holder.js';
import type { LockHolder } from './lock-holder.js';
import { systemCode } from '../../shared/errors.js';

/** Timing of locks, in milliseconds. */
export interface LockTiming {
  /** Interval of the heartbeat. */
  readonly beatMs: number;
  /** Time without a heartbeat after which a lock is taken over. */
  readonly leaseMs: number;
}

const TIMING: LockTiming = { beatMs: 2_000, leaseMs: 6_000 };
/** How many times per heartbeat interval a watched lock is read. */
const LOOKS_PER_BEAT = 4;
/** A takeover takes a few system calls; an older guard file belongs to a process that died during one. */
const MAX_TAKEOVER_MS = 10_000;
const MAX_ATTEMPTS = 5;

/** Tokens of the locks that this process holds. */
const HELD_HERE = new Set<string>();

/**
 * Takes the lock of a file.
 *
 * If this process holds the lock, this fails at once. If the holder was a process of this system that has ended, the lock is taken
 * over at once. Any other holder is watched: on its first heartbeat this fails; after a lease without a heartbeat the lock is taken
 * over, whether its holder is on another host, in a container that is gone, or suspended. A heartbeat is any change of the lock file
 * while it is watched, so no clocks are compared.
 *
 * @throws Error with code `ELOCKED` if somebody holds the lock; its message names the holder. The system's
 * error if the lock file cannot be created.
 */
export async function acquireFileLock(
  path: string,
  timing: LockTiming = TIMING,
): Promise<FileLock> {
  const lockPath = `${path}.lock`;
  const holder = await newHolder();
  HELD_HERE.add(holder.token);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (await createLock(lockPath, holder)) return new FileLock(lockPath, holder, timing);
      const text = await readLock(lockPath);
      if (text === undefined) continue;
      if (!(await isDead(lockPath, text, timing))) throw lockedError(lockPath, text, timing);
      if (!(await discardDeadLock(lockPath, text))) throw lockedError(lockPath, text, timing);
    }
    throw lockedError(lockPath, '', timing);
  } catch (error) {
    HELD_HERE.delete(holder.token);
    throw error;
  }
}

/** A held lock. */
export class FileLock {
  readonly #lockPath: string;
  readonly #holder: LockHolder;
  readonly #timer: NodeJS.Timeout;
  #beats = 0;
  #beating: Promise<void> | undefined;

  constructor(lockPath: string, holder: LockHolder, { beatMs }: LockTiming) {
    this.#lockPath = lockPath;
    this.#holder = holder;
    this.#timer = setInterval(() => {
      this.#beating ??= this.#beat().finally(() => {
        this.#beating = undefined;
      });
    }, beatMs).unref();
  }

  /** @throws Error with code `ELOCKLOST` if the lock file is gone or belongs to another holder. */
  async assertHeld(): Promise<void> {
    const text = await readLock(this.#lockPath);
    if (this.#isOwn(text)) return;
    const message =
      text === undefined
        ? `${this.#lockPath} is gone: somebody has removed it, or its folder. The next record begins a new file.`
        : `${this.#lockPath} is not this writer's any more: it did not renew its lease while it was suspended or too ` +
          'busy, and another writer has taken over. Close this one; open the path again when the other one is closed.';
    throw Object.assign(new Error(message), { code: 'ELOCKLOST' });
  }

  /** Whether the lock file no longer exists, because somebody deleted it or its folder. */
  async isDeleted(): Promise<boolean> {
    return (await readLock(this.#lockPath)) === undefined;
  }

  /** Removes the lock file, unless it belongs to another holder. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#beating;
      if (this.#isOwn(await readLock(this.#lockPath))) await unlink(this.#lockPath);
    } finally {
      // If the lock file could not be removed, it is taken over after its lease.
      HELD_HERE.delete(this.#holder.token);
    }
  }

  /** Never rejects: if the lease cannot be renewed, the lock is lost, and `assertHeld` throws. */
  async #beat(): Promise<void> {
    let handle: FileHandle | undefined;
    try {
      // One handle: if another process takes the lock over in between, this must not write to its file.
      handle = await open(this.#lockPath, 'r+');
      if (!this.#isOwn(await handle.readFile('utf8'))) return;
      this.#beats += 1;
      await handle.write(lockText(this.#holder, this.#beats), 0);
    } catch {
      // Ignored: the next heartbeat tries again.
    } finally {
      await handle?.close().catch(() => undefined);
    }
  }

  #isOwn(text: string | undefined): boolean {
    return text !== undefined && parseHolder(text)?.token === this.#holder.token;
  }
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
    await handle.writeFile(lockText(holder, 0));
  } catch (error) {
    // An empty lock file, which a full disk leaves, must not keep others away.
    await unlink(lockPath);
    throw error;
  } finally {
    await handle.close();
  }
  return true;
}

/** Whether a lock's holder has ended, or sends no heartbeat for a lease. Completing a new lock file counts as a heartbeat. */
async function isDead(lockPath: string, text: string, timing: LockTiming): Promise<boolean> {
  const holder = parseHolder(text);
  if (holder !== undefined) {
    if (HELD_HERE.has(holder.token)) return false;
    if (await isGone(holder)) return true;
  }
  const lookMs = timing.beatMs / LOOKS_PER_BEAT;
  // Counts reads instead of time, because this process may itself be suspended, together with the holder.
  for (let looks = Math.ceil(timing.leaseMs / lookMs); looks > 0; looks -= 1) {
    await delay(lookMs);
    const now = await readLock(lockPath);
    if (now === undefined) return true;
    if (now !== text) return false;
  }
  return true;
}

/**
 * Removes a lock whose holder has died. Two processes can find the same dead lock, and the slower one
 * must not remove the new lock of the faster one. So a process must create the guard file first and then
 * find the dead lock unchanged: no other process can replace it while the guard exists.
 *
 * @returns `false` if another process has the guard
 */
async function discardDeadLock(lockPath: string, text: string): Promise<boolean> {
  const guardPath = `${lockPath}.takeover`;
  if (!(await createGuard(guardPath))) return false;
  try {
    if ((await readLock(lockPath)) === text) await unlink(lockPath);
  } finally {
    await unlink(guardPath);
  }
  return true;
}

/** Creates the guard file. One that a killed process left behind is removed once it is too old. */
async function createGuard(guardPath: string): Promise<boolean> {
  try {
    await (await open(guardPath, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    const { mtimeMs = Date.now() } = (await ifThere(stat(guardPath))) ?? {};
    // The clock may have been set back since.
    const isOld = Math.abs(Date.now() - mtimeMs) > MAX_TAKEOVER_MS;
    if (isOld) await unlink(guardPath).catch(() => undefined);
    return false;
  }
}

function readLock(lockPath: string): Promise<string | undefined> {
  return ifThere(readFile(lockPath, 'utf8'));
}

function lockedError(lockPath: string, text: string, { leaseMs }: LockTiming): Error {
  const holder = parseHolder(text);
  const who =
    holder === undefined ? 'another writer' : `process ${holder.pid} on host ${holder.host}`;
  const message =
    `${lockPath} is held by ${who}, which is alive. Close that writer, or use another file. ` +
    `A lock that nobody renews is taken over after ${leaseMs / 1_000} seconds.`;
  const isLockedElsewhere = holder === undefined || !HELD_HERE.has(holder.token);
  return Object.assign(new Error(message), { code: 'ELOCKED', isLockedElsewhere });
}
