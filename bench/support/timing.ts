// Medians by tinybench, with warm or cold processor caches.

import { Bench } from 'tinybench';

export interface TimingOptions<Input> {
  readonly runs: number;
  /** Makes what a run works on, outside of the time measured. */
  readonly prepare: () => Input;
  /** Whether caches are emptied before each run, as they are when seconds pass between two passes. */
  readonly isCold?: boolean;
}

/** Returns the median time of `run` in milliseconds, after as many runs to warm up. */
export function medianMs<Input>(
  options: TimingOptions<Input>,
  run: (input: Input) => unknown,
): number {
  const { runs, prepare, isCold = false } = options;
  let input = prepare();
  const bench = new Bench({
    iterations: runs,
    time: 0,
    warmup: true,
    warmupIterations: Math.min(runs, 10),
    warmupTime: 0,
    retainSamples: true,
    throws: true,
  });
  bench.add('run', () => void run(input), {
    beforeEach: () => {
      input = prepare();
      if (isCold) emptyCaches();
    },
  });
  const [task] = bench.runSync();
  const { result } = task ?? {};
  if (result?.state !== 'completed') throw new Error('A benchmark did not complete.');
  return result.latency.p50;
}

/** The median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** The least of some numbers that a share of them, in [0, 1], does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** Larger than any cache of a processor. */
const buffer = new Uint8Array(256 * 1024 * 1024);
const CACHE_LINE_BYTES = 64;

/** Touches every cache line of a large buffer, so that nothing else is left in the caches. */
function emptyCaches(): void {
  for (let at = 0; at < buffer.length; at += CACHE_LINE_BYTES) {
    buffer[at] = ((buffer[at] ?? 0) + 1) & 255;
  }
}
