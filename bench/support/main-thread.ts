// How long work keeps the main thread busy, how long it takes, and how long the event loop stands still.

import { setTimeout as delay } from 'node:timers/promises';

export interface ThreadTime {
  /** Milliseconds from start to end. */
  readonly wallMs: number;
  /** Milliseconds of them in which the main thread was not waiting. */
  readonly busyMs: number;
}

/** Long enough for what the work before left behind to come to rest. */
const REST_MS = 20;

/** Times a piece of work that other threads have their part in, after a rest of some milliseconds. */
export async function timeThread(
  work: () => Promise<unknown>,
  restMs: number = REST_MS,
): Promise<ThreadTime> {
  await delay(restMs);
  const before = performance.eventLoopUtilization();
  const startedAt = performance.now();
  await work();
  const wallMs = performance.now() - startedAt;
  const { active } = performance.eventLoopUtilization(before);
  return { wallMs, busyMs: Math.min(active, wallMs) };
}

/** Returns the milliseconds of processor time that work takes, on all threads: other programs do not count. */
export async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Returns the longest time in milliseconds for which the event loop did not turn during the work. */
export async function longestPauseMs(work: () => Promise<unknown>): Promise<number> {
  await delay(REST_MS);
  let longest = 0;
  let last = performance.now();
  let isDone = false;
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  tick();
  isDone = true;
  return longest;
}
