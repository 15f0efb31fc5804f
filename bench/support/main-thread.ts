// How long work keeps the main thread busy, how long it takes, and how long the event loop stands still.

import { readFileSync } from 'node:fs';
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

/** Times work as `timeThread` does; busy is processor time where the system tells it by thread, so that other programs do not count. */
export async function timeThreadAlone(work: () => Promise<unknown>): Promise<ThreadTime> {
  // What a thread used is told exactly once it has waited.
  await delay(REST_MS);
  const before = usedProcessorMs();
  const time = await timeThread(work, 0);
  await delay(1);
  const after = usedProcessorMs();
  return before === undefined || after === undefined ? time : { ...time, busyMs: after - before };
}

/** Milliseconds of processor time that this thread has used; `undefined` where that is not told. */
function usedProcessorMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1_000_000;
  } catch {
    return undefined;
  }
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
