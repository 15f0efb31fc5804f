// How long work takes, how long it keeps the main thread busy, and how long the event loop pauses.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ThreadTime {
  /** Milliseconds from start to end. */
  readonly wallMs: number;
  /** Milliseconds of it in which the main thread was not waiting. */
  readonly busyMs: number;
}

/** Long enough for previous work to settle. */
const REST_MS = 20;

/** Times work that involves other threads, after a rest in milliseconds. */
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

/** Returns the CPU time of work in milliseconds, on all threads, which excludes other programs. */
export async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Like `timeThread`, but busy is CPU time where the system reports it per thread, which excludes other programs. */
export async function timeThreadAlone(work: () => Promise<unknown>): Promise<ThreadTime> {
  // A thread's CPU time is only exact after it has waited.
  await delay(REST_MS);
  const before = usedProcessorMs();
  const time = await timeThread(work, 0);
  await delay(1);
  const after = usedProcessorMs();
  return before === undefined || after === undefined ? time : { ...time, busyMs: after - before };
}

/** CPU time of this thread in milliseconds; `undefined` where the system does not report it. */
function usedProcessorMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1_000_000;
  } catch {
    return undefined;
  }
}

/** Returns the longest pause of the event loop during the work, in milliseconds. */
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
