// A short chaos run; `npm run chaos` is the long one. Runs in a separate process: a crash of the host does not take down
// this suite, nothing in the suite is mistaken for a stray error, it can collect garbage, and it must exit by itself.
// Deadlines there are multiples of a thread's cold start. Faults that did not occur by chance are injected at the end.
// Memory is only checked in long runs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, describe, onTestFinished } from 'vitest';
import { PLAYS_ALL, runs } from '../support/scale.js';
import { FAULTS, LINE_PLACES, TASK_PLACES } from '../support/chaos-dial.js';
import type { Place } from '../support/chaos-dial.js';
import type { StormReport } from './storm.js';

const ROOT = resolve(import.meta.dirname, '../..');

const SEED = 7;
const PASSES = runs(60, 6);
const LONGEST = PLAYS_ALL ? 10_000 : 1_000;
/**
 * The faults required in the quick run; each takes a new thread. Faults that end at a deadline take seconds, and the tests
 * of pool and lines cover them one by one.
 */
const PLAYED = PLAYS_ALL ? FAULTS : (['throw', 'exit', 'garbage'] as const);

/** Runs the chaos process. Resolves to its exit code and report. */
async function runChaos(): Promise<{ readonly code: unknown; readonly report: StormReport }> {
  const sizes = ['--passes', String(PASSES), '--longest', String(LONGEST)];
  const faults = ['--faults', PLAYED.join()];
  const options = ['--json', '--seed', String(SEED), ...sizes, ...faults];
  const child = spawn(process.execPath, ['scripts/chaos.js', ...options], { cwd: ROOT });
  onTestFinished(() => void child.kill());
  const closed = once(child, 'close') as Promise<[unknown]>;
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  if (output === '') throw new Error(`The run gave no report: ${errors}`);
  return { code, report: JSON.parse(output) as StormReport };
}

describe('runStorm', () => {
  it(`breaks no promise, whatever goes wrong (seed ${SEED})`, async () => {
    const { code, report } = await runChaos();
    expect(report.violations, `seed ${SEED}`).toEqual([]);
    expect(code).toBe(0);
    expect(report.passes).toBeGreaterThanOrEqual(PASSES);
    expect(report.terminations).toBeGreaterThan(0);
    expect(report.residentPasses).toBeGreaterThan(0);
    const hasCome = (places: readonly Place[], fault: (typeof FAULTS)[number]): boolean =>
      places.some((place) => report.faults[place][fault] > 0);
    expect(PLAYED.filter((fault) => !hasCome(TASK_PLACES, fault))).toEqual([]);
    expect(PLAYED.filter((fault) => !hasCome(LINE_PLACES, fault))).toEqual([]);
    expect(Object.keys(report.strategies).length).toBeGreaterThan(1);
  });
});
