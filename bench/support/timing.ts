// Medians by tinybench, with warm or cold CPU caches.

import { Bench } from 'tinybench';

export interface TimingOptions<Input> {
  readonly runs: number;
  /** Makes the input of a run, outside the measured time. */
  readonly prepare: () => Input;
  /** Whether to empty the caches before each run, as after seconds of other work. */
  readonly isCold?: boolean;
}

/** Returns the median time of `run` in milliseconds, after as many warm-up runs. */
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

/** The smallest number that at least a share of them, in [0, 1], does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** Larger than any CPU cache. */
const buffer = new Uint8Array(256 * 1024 * 1024);
const CACHE_LINE_BYTES = 64;

/** Evicts everything from the caches by touching each line of a large buffer. */
function emptyCaches(): void {
  for (let at = 0; at < buffer.length; at += CACHE_LINE_BYTES) {
    buffer[at] = ((buffer[at] ?? 0) + 1) & 255;
  }
}
