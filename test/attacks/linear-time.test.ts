// Histories that made the calling thread stand still: 32,000 calls of one id took 12 s to be paired, contents
// without ids 27 s, a recording without ids 16 s. Counts what is executed instead of measuring time: the engine
// tells how often each block of the code ran, which is the same in every run.

import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTER_SUBJECTS } from '../../bench/scaling/adapter-subjects.js';
import { PURE_SUBJECTS } from '../../bench/scaling/pure-subjects.js';
import { READER_SUBJECTS } from '../../bench/scaling/reader-subjects.js';
import { SESSION_SUBJECTS } from '../../bench/scaling/session-subjects.js';
import { SHAPES } from '../../bench/scaling/shapes.js';
import type { ShapeName } from '../../bench/scaling/shapes.js';
import type { Subject } from '../../bench/scaling/subject.js';
import { isToolCallBlock } from '../../src/shared/content.js';
import { firstOf, PLAYS_ALL, sample } from '../support/scale.js';

/** Beyond what is searched step by step before something better takes its place. */
const SIZE = 300;
const FACTOR = 4;
const MAX_OVER_LINEAR = 1.3;

const session = new Session();
const counted = (subjects: readonly Subject[]): readonly Subject[] =>
  subjects.filter(({ isTimedOnly }) => isTimedOnly !== true);
/** Some of each kind; `npm run check` counts all, and `npm run scaling` measures each with every shape. */
const COUNTED: readonly Subject[] = [
  ...sample(counted(PURE_SUBJECTS), 8),
  ...sample(counted(READER_SUBJECTS), 2),
  ...sample(counted(SESSION_SUBJECTS), 4),
  ...sample(counted(ADAPTER_SUBJECTS), 4),
];
const ALL_SHAPES = Object.keys(SHAPES) as ShapeName[];

const FIRST = firstOf(ALL_SHAPES.length);

/** A tenth of a subject's shapes, others for the next one and by another seed; in a run of a share of the cases one of them. */
function shapesOf({ shapes = ALL_SHAPES }: Subject, at: number): readonly ShapeName[] {
  const step = PLAYS_ALL ? Math.min(10, shapes.length) : shapes.length;
  return shapes.filter((_, index) => (index + at + FIRST) % step === 0);
}

beforeAll(async () => {
  // What is inlined is not counted.
  setFlagsFromString('--no-opt');
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
});

afterAll(async () => {
  setFlagsFromString('--opt');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
});

/** How often blocks of this package's code have run since the last time. */
async function executed(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  let count = 0;
  for (const { url, functions } of result) {
    if (!url.includes('/src/') || url.includes('node_modules')) continue;
    for (const { ranges } of functions) for (const range of ranges) count += range.count;
  }
  return count;
}

async function operationsOf(
  { prepare, finish }: Subject,
  shape: ShapeName,
  size: number,
): Promise<number> {
  const work = await prepare(SHAPES[shape](size));
  await executed();
  await work();
  const count = await executed();
  await finish?.();
  return count;
}

async function overLinear(subject: Subject, shape: ShapeName, smallest = SIZE): Promise<number> {
  let over = NaN;
  // A limit that only the larger history reaches looks the same once: then a still larger one tells.
  for (const size of [smallest, smallest * FACTOR]) {
    const one = await operationsOf(subject, shape, size);
    const four = await operationsOf(subject, shape, size * FACTOR);
    over = four / (one * FACTOR);
    if (!(over > MAX_OVER_LINEAR)) break;
  }
  return over;
}

describe('what is executed', () => {
  it('is counted', async () => {
    const quadratic: Subject = {
      name: 'quadratic',
      prepare: (history) => () =>
        history.map(() => history.filter(({ blocks }) => blocks.some(isToolCallBlock)).length),
    };
    expect(await overLinear(quadratic, 'never answered', 60)).toBeGreaterThan(FACTOR * 0.9);
    expect(await overLinear({ ...quadratic, prepare: () => () => undefined }, 'nested')).toBeNaN();
  });

  it('grows in proportion to the history, whatever its shape', async () => {
    const exceeded: string[] = [];
    let cases = 0;
    for (const [at, subject] of COUNTED.entries()) {
      for (const shape of shapesOf(subject, at)) {
        const over = await overLinear(subject, shape);
        cases += 1;
        if (over > MAX_OVER_LINEAR) exceeded.push(`${subject.name}, ${shape}: ${over.toFixed(2)}`);
      }
    }
    expect(exceeded).toEqual([]);
    expect(cases).toBeGreaterThanOrEqual(COUNTED.length);
  });
});
