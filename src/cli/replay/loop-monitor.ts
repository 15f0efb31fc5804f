// Measures how much work blocks the event loop of its thread.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Figures of the event loop. */
export interface EventLoopFigures {
  /** Longest delay of a due timer. */
  readonly longestDelayMs: number;
  /** Median delay of timers. */
  readonly p50DelayMs: number;
  /** 99th percentile of the delays of timers. */
  readonly p99DelayMs: number;
  /** Share of the time in which the thread was busy, from 0 to 1. */
  readonly utilization: number;
  readonly elapsedMs: number;
}

const RESOLUTION_MS = 1;

/** Idle time before and after the work, so that the histogram's timer ticks on both sides of it and records blocking at either end. */
const SETTLING_MS = 10 * RESOLUTION_MS;

/** Watches the event loop, and returns a function that stops watching. */
export async function watchEventLoop(): Promise<() => Promise<EventLoopFigures>> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  // Blocking work is not recorded before the first tick of the histogram.
  await sleep(SETTLING_MS);
  const start = performance.eventLoopUtilization();
  return async () => {
    const { active, idle, utilization } = performance.eventLoopUtilization(start);
    await sleep(SETTLING_MS);
    delays.disable();
    return {
      longestDelayMs: delayMs(delays.max),
      p50DelayMs: delayMs(delays.percentile(50)),
      p99DelayMs: delayMs(delays.percentile(99)),
      utilization,
      elapsedMs: active + idle,
    };
  };
}

/** Converts a value of the histogram to a delay. The histogram records the time between two ticks, which includes one interval. */
function delayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

/** Starts a stopwatch and returns a function that reads it: the time since then, and the part of it in which the thread was busy. */
export function startStretch(): () => { readonly waitMs: number; readonly busyMs: number } {
  const start = performance.eventLoopUtilization();
  const startMs = performance.now();
  return () => ({
    waitMs: performance.now() - startMs,
    busyMs: performance.eventLoopUtilization(start).active,
  });
}
