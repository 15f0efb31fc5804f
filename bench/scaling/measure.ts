// How the time of a subject grows with its input: the processor's time of this process, at 1, 4 and 16 times a
// size. Says what it found; prints nothing.

import { SHAPES } from './shapes.js';
import type { ShapeName } from './shapes.js';
import type { Subject } from './subject.js';

/** What one subject took on one shape. */
export interface Growth {
  readonly subject: string;
  readonly shape: ShapeName;
  /** Blocks, and the milliseconds of the processor that they took, by 1, 4 and 16 times the size. */
  readonly sizes: readonly number[];
  readonly cpuMs: readonly number[];
  /** How many times as long the largest took as it would if all grew in proportion. */
  readonly overLinear: number;
}

/** Above it something grows faster than its input. */
export const MAX_OVER_LINEAR = 1.3;

const FACTORS = [1, 4, 16];
/** What takes less is too short to be compared. */
const MIN_CPU_MS = 20;
const FIRST_SIZE = 512;
const MIN_SIZE = 64;
/** Sizes at which a run that is too short is made several times instead. */
const MAX_FIRST_SIZE = 8_192;
const RUNS = 3;
/** What looks suspicious is looked at again: larger, where noise and caches weigh less, and more often. */
const SECOND_LOOKS = 2;

/**
 * Measures until it is clear that a subject is linear on a shape, or that it is not.
 *
 * @throws what the subject throws.
 */
export async function measureGrowth(subject: Subject, shape: ShapeName): Promise<Growth> {
  let size = await sizeFor(subject, shape);
  let growth = await growthFrom(subject, shape, size, RUNS);
  for (let look = 0; look < SECOND_LOOKS && growth.overLinear > MAX_OVER_LINEAR; look += 1) {
    // What is far off needs no larger size to be sure of.
    if (growth.overLinear < 3) size *= 2;
    const again = await growthFrom(subject, shape, size, RUNS + 2);
    if (again.overLinear > growth.overLinear && growth.overLinear > 2) return again;
    growth = again;
  }
  return growth;
}

/** The smallest size that takes long enough. */
async function sizeFor(subject: Subject, shape: ShapeName): Promise<number> {
  let size = FIRST_SIZE;
  // The first runs are those of code that is not compiled yet.
  for (let run = 0; run < RUNS; run += 1) await cpuMsOf(subject, shape, size);
  while (size < MAX_FIRST_SIZE && (await cpuMsOf(subject, shape, size)) < MIN_CPU_MS) size *= 2;
  return size;
}

async function growthFrom(
  subject: Subject,
  shape: ShapeName,
  size: number,
  runs: number,
): Promise<Growth> {
  const sizes = FACTORS.map((factor) => factor * size);
  const cpuMs: number[] = [];
  try {
    for (const each of sizes) cpuMs.push(await bestCpuMs(subject, shape, each, runs));
  } catch (thrown) {
    if (!isTooLarge(thrown) || size <= MIN_SIZE) throw thrown;
    await subject.finish?.();
    return growthFrom(subject, shape, size / 2, runs);
  }
  const [first = 0] = cpuMs;
  const last = cpuMs.at(-1) ?? 0;
  const overLinear = last / (first * (FACTORS.at(-1) ?? 1));
  return { subject: subject.name, shape, sizes, cpuMs, overLinear };
}

/** Shapes with all blocks in one entry meet the limit of what an entry may hold. */
function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message.startsWith('Expected at most ');
}

/** Noise only adds to what something takes. */
async function bestCpuMs(
  subject: Subject,
  shape: ShapeName,
  size: number,
  runs: number,
): Promise<number> {
  let best = Infinity;
  for (let run = 0; run < runs; run += 1) {
    let [total, times] = [0, 0];
    while (total < MIN_CPU_MS && times < 50) {
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
