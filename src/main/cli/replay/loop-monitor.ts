// How much a stretch of work takes of the thread that it runs on. Measures only.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { EventLoopUtilization, IntervalHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** What was measured of the event loop. Times are milliseconds. */
export interface EventLoopFigures {
  /** The longest time for which a timer that was due had to wait. */
  readonly longestDelayMs: number;
  /** Half of the timers waited no longer. */
  readonly p50DelayMs: number;
  /** 99 of 100 timers waited no longer. */
  readonly p99DelayMs: number;
  /** The share of the time in which the thread was busy, from 0 to 1. */
  readonly utilization: number;
  readonly elapsedMs: number;
}

const RESOLUTION_MS = 1;

/** Turns for which the histogram's timer is left alone, so that what blocks right away or last is seen. */
const SETTLING_MS = 10 * RESOLUTION_MS;

/** Watches the event loop from `start` to `finish`. */
export class LoopMonitor {
  readonly #delays: IntervalHistogram;
  readonly #start: EventLoopUtilization;

  private constructor(delays: IntervalHistogram) {
    this.#delays = delays;
    this.#start = performance.eventLoopUtilization();
  }

  /** Starts watching. The histogram misses what blocks before its first tick, hence the wait. */
  static async start(): Promise<LoopMonitor> {
    const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    await sleep(SETTLING_MS);
    return new LoopMonitor(delays);
  }

  /** Stops watching. */
  async finish(): Promise<EventLoopFigures> {
    const { active, idle, utilization } = performance.eventLoopUtilization(this.#start);
    await sleep(SETTLING_MS);
    this.#delays.disable();
    return {
      longestDelayMs: delayMs(this.#delays.max),
      p50DelayMs: delayMs(this.#delays.percentile(50)),
      p99DelayMs: delayMs(this.#delays.percentile(99)),
      utilization,
      elapsedMs: active + idle,
    };
  }
}

/** The histogram holds the time between two ticks, of which one interval is no delay. */
function delayMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

/** Time of a stretch of work. */
export interface Stretch {
  /** Milliseconds from its start to its end. */
  readonly waitMs: number;
  /** Milliseconds of these in which the thread was busy. */
  readonly busyMs: number;
}

/** Starts a stopwatch; the function that it returns reads it. */
export function startStretch(): () => Stretch {
  const start = performance.eventLoopUtilization();
  const startMs = performance.now();
  return () => ({
    waitMs: performance.now() - startMs,
    busyMs: performance.eventLoopUtilization(start).active,
  });
}
