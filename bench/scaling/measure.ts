// How the time of a subject grows with its input: CPU time of this process at 1 and 16 times a size. Results near the limit are
// measured again at 1, 4 and 16 times with more runs, and the last step counts. Prints nothing.

import { SHAPES } from './shapes.js';
import type { ShapeName } from './shapes.js';
import type { Subject } from './subject.js';

/** The times of one subject on one shape. */
export interface Growth {
  readonly subject: string;
  readonly shape: ShapeName;
  /** Sizes in blocks, and their CPU time in milliseconds. */
  readonly sizes: readonly number[];
  readonly cpuMs: readonly number[];
  /**
   * Time at 16 times the size, relative to proportional growth, by the last step. Only the last step, because a smallest size
   * that fits a cache makes one step look steep, while superlinear growth is steep at each.
   */
  readonly overLinear: number;
}

/** Above this, a subject is superlinear. */
export const MAX_OVER_LINEAR = 1.3;

const FACTORS = [1, 4, 16];
const QUICK_FACTORS = [1, 16];
/** Up to this, one quick look suffices: quadratic growth would be at 16. */
const CLEARLY_LINEAR = 1.1;
/** Minimum time to be comparable, for a quick look and for a verdict. */
const QUICK_CPU_MS = 5;
const MIN_CPU_MS = 20;
const FIRST_SIZE = 512;
const MIN_SIZE = 64;
/** Beyond this size, a run that is too short is repeated instead of enlarged. */
const MAX_QUICK_SIZE = 2_048;
const MAX_FIRST_SIZE = 8_192;
const RUNS = 3;
/** Suspicious results are measured again with more runs and larger sizes, where noise and caches matter less. */
const SECOND_LOOKS = 2;

/** Subjects whose code has run and is compiled. */
const warm = new WeakSet<Subject>();

/**
 * Measures until a subject is clearly linear or superlinear on a shape.
 *
 * @throws what the subject throws.
 */
export async function measureGrowth(subject: Subject, shape: ShapeName): Promise<Growth> {
  const runs = warm.has(subject) ? 1 : RUNS;
  for (let run = 0; run < runs; run += 1) await cpuMsOf(subject, shape, FIRST_SIZE);
  warm.add(subject);
  const quick: Look = { factors: QUICK_FACTORS, runs: 1, minCpuMs: QUICK_CPU_MS };
  let size = await sizeFor(subject, shape, MAX_QUICK_SIZE, QUICK_CPU_MS);
  let growth = await growthFrom(subject, shape, size, quick);
  if (growth.overLinear <= CLEARLY_LINEAR) return growth;
  size = await sizeFor(subject, shape, MAX_FIRST_SIZE, MIN_CPU_MS);
  const look: Look = { factors: FACTORS, runs: RUNS, minCpuMs: MIN_CPU_MS };
  growth = await growthFrom(subject, shape, size, look);
  for (let times = 0; times < SECOND_LOOKS && growth.overLinear > MAX_OVER_LINEAR; times += 1) {
    // Clear violations need no larger size.
    if (growth.overLinear < 3) size *= 2;
    const again = await growthFrom(subject, shape, size, { ...look, runs: RUNS + 2 });
    if (again.overLinear > growth.overLinear && growth.overLinear > 2) return again;
    growth = again;
  }
  return growth;
}

/** The smallest size that takes long enough. */
async function sizeFor(
  subject: Subject,
  shape: ShapeName,
  maxSize: number,
  minCpuMs: number,
): Promise<number> {
  let size = FIRST_SIZE;
  while (size < maxSize && (await cpuMsOf(subject, shape, size)) < minCpuMs) size *= 2;
  return size;
}

interface Look {
  readonly factors: readonly number[];
  /** Runs of the largest size; the smallest, which matters more, gets at least three. */
  readonly runs: number;
  readonly minCpuMs: number;
}

async function growthFrom(
  subject: Subject,
  shape: ShapeName,
  size: number,
  look: Look,
): Promise<Growth> {
  const { factors } = look;
  const sizes = factors.map((factor) => factor * size);
  const cpuMs: number[] = [];
  try {
    for (const each of sizes) {
      const runs = each === size ? Math.max(RUNS, look.runs) : look.runs;
      cpuMs.push(await bestCpuMs(subject, shape, each, runs, look.minCpuMs));
    }
  } catch (thrown) {
    if (!isTooLarge(thrown) || size <= MIN_SIZE) throw thrown;
    await subject.finish?.();
    return growthFrom(subject, shape, size / 2, look);
  }
  const [before = 0, last = 0] = cpuMs.slice(-2);
  const [factorBefore = 1, factor = 1] = factors.slice(-2);
  const step = factor / factorBefore;
  const overLinear = (last / (before * step)) ** (Math.log(16) / Math.log(step));
  return { subject: subject.name, shape, sizes, cpuMs, overLinear };
}

/** Shapes with all blocks in one entry hit the limit on blocks per entry. */
function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message.startsWith('Expected at most ');
}

/** The minimum, because noise only adds time. */
async function bestCpuMs(
  subject: Subject,
  shape: ShapeName,
  size: number,
  runs: number,
  minCpuMs: number,
): Promise<number> {
  let best = Infinity;
  for (let run = 0; run < runs; run += 1) {
    let [total, times] = [0, 0];
    while (total < minCpuMs && times < 50) {
      total += await cpuMsOf(subject, shape, size);
      times += 1;
    }
    best = Math.min(best, total / times);
  }
  return best;
}

async function cpuMsOf(subject: Subject, shape: ShapeName, size: number): Promise<number> {
  const work = await subject.prepare(SHAPES[shape](size));
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  await subject.finish?.();
  return (user + system) / 1_000;
}
