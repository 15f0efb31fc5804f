// What a lock file says: who holds the lock, and how often that was renewed. Tells holders that are gone for
// certain from those that may live; takes no lock.

import { randomUUID } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemCode } from './removal-log-errors.js';

/** Who holds a lock. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** Tells containers with one host name apart, whose processes have the same ids; `null` where the system does not say. */
  readonly namespace: string | null;
  /** Tells a process from a later one with the same id; `null` where the system does not say. */
  readonly startedAt: string | null;
  /** Tells one lock from another. */
  readonly token: string;
}

/** Fields of `/proc/<pid>/stat` between the name in parentheses and the start time. */
const START_TIME_FIELD = 19;

/** This process, as the holder of a new lock. */
export async function newHolder(): Promise<LockHolder> {
  return {
    pid: process.pid,
    host: hostname(),
    namespace: await ownNamespace(),
    startedAt: await startOf(process.pid),
    token: randomUUID(),
  };
}

/** Writes a lock file's text. It never gets shorter as `beats` grow. */
export function lockText(holder: LockHolder, beats: number): string {
  return JSON.stringify({ ...holder, beats });
}

/** Reads a lock file's text; `undefined` when it is not finished, or no lock. */
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
    // Anything but "no such process", as "not permitted", means that there is one.
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
