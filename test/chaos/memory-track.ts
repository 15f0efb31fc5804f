// Samples the memory of a process over the passes of a chaos run, and measures its growth.

/** A memory sample, in megabytes. */
interface MemorySample {
  readonly pass: number;
  readonly residentSetMb: number;
  readonly heapMb: number;
}

/** Memory over the run, in megabytes. Growth is that of the fitted line over the second half. */
export interface MemoryReport {
  readonly firstMb: number;
  readonly highestMb: number;
  readonly lastMb: number;
  readonly growthMb: number;
  readonly heapGrowthMb: number;
}

const MEGABYTE = 2 ** 20;

export class MemoryTrack {
  readonly #samples: MemorySample[] = [];

  /** Takes a sample, after garbage collection if the process has `--expose-gc`. */
  sample(pass: number): void {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    this.#samples.push({ pass, residentSetMb: rss / MEGABYTE, heapMb: heapUsed / MEGABYTE });
  }

  get report(): MemoryReport {
    const half = this.#samples.slice(Math.floor(this.#samples.length / 2));
    const all = this.#samples.map(({ residentSetMb }) => residentSetMb);
    return {
      firstMb: all[0] ?? 0,
      highestMb: Math.max(...all),
      lastMb: all.at(-1) ?? 0,
      growthMb: growthOf(half, ({ residentSetMb }) => residentSetMb),
      heapGrowthMb: growthOf(half, ({ heapMb }) => heapMb),
    };
  }
}

/** Growth of the least-squares line from the first sample to the last. */
function growthOf(
  samples: readonly MemorySample[],
  valueOf: (sample: MemorySample) => number,
): number {
  const meanPass = mean(samples.map(({ pass }) => pass));
  const meanValue = mean(samples.map(valueOf));
  let covariance = 0;
  let variance = 0;
  for (const sample of samples) {
    covariance += (sample.pass - meanPass) * (valueOf(sample) - meanValue);
    variance += (sample.pass - meanPass) ** 2;
  }
  const passes = (samples.at(-1)?.pass ?? 0) - (samples[0]?.pass ?? 0);
  return variance === 0 ? 0 : (covariance / variance) * passes;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
