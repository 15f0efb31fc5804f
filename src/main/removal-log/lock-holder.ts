// The content of a lock file: the holder and the number of renewals. Decides whether a holder has certainly
// ended.

import { randomUUID } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from '../../shared/errors.js';

/** The holder of a lock. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** PID namespace, which distinguishes containers with the same host name. `null` if unknown. */
  readonly namespace: string | null;
  /** Start of the process, which distinguishes it from a later one with the same PID. `null` if unknown. */
  readonly startedAt: string | null;
  /** Unique per lock. */
  readonly token: string;
}

/** Fields of `/proc/<pid>/stat` between the name in parentheses and the start time. */
const START_TIME_FIELD = 19;

/** Returns this process as the holder of a new lock. */
export async function newHolder(): Promise<LockHolder> {
  return {
    pid: process.pid,
    host: hostname(),
    namespace: await ownNamespace(),
    startedAt: await startOf(process.pid),
    token: randomUUID(),
  };
}

/** Returns the text of a lock file. It never gets shorter as `beats` grows, so it can be overwritten in place. */
export function lockText(holder: LockHolder, beats: number): string {
  return JSON.stringify({ ...holder, beats });
}

/** Parses the text of a lock file; `undefined` if it is incomplete or not a lock. */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    const { pid, host, namespace, startedAt, token } = JSON.parse(text) as Partial<LockHolder>;
    if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0) return undefined;
    if (typeof host !== 'string' || typeof token !== 'string') return undefined;
    return {
      pid,
      host,
      namespace: typeof namespace === 'string' ? namespace : null,
      startedAt: typeof startedAt === 'string' ? startedAt : null,
      token,
    };
  } catch {
    return undefined;
  }
}

/** Whether a holder is a process of this system that has ended. */
export async function isGone(holder: LockHolder): Promise<boolean> {
  if (holder.host !== hostname() || differs(holder.namespace, await ownNamespace())) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Any other error, such as EPERM, means that the process exists.
    if (systemCode(error) === 'ESRCH') return true;
  }
  return differs(holder.startedAt, await startOf(holder.pid));
}

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

function ownNamespace(): Promise<string | null> {
  return readlink('/proc/self/ns/pid').catch(() => null);
}

/** Returns the boot id and the clock tick at which a process started, on Linux. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The process name, in parentheses, may contain spaces and parentheses itself.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return `${boot.trim()}/${fields[START_TIME_FIELD] ?? ''}`;
  } catch {
    return null;
  }
}
