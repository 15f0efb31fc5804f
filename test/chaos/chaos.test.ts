// The chaos proof in little; `npm run chaos` is the long one. It runs as a process of its own: a crash of
// the host is seen instead of taking this suite along, nothing that the suite does counts as stray, it
// may collect garbage, and whether it ends by itself shows. Deadlines there are measured in cold starts
// of a thread, and a fault that the storm has not brought comes after it; memory is judged in long runs alone.

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
 * What has to come in the quick run: each takes a new thread. Those that end by a deadline take several seconds, and are played one by
 * one in the tests of the pool and the lines.
 */
const PLAYED = PLAYS_ALL ? FAULTS : (['throw', 'exit', 'garbage'] as const);

/** Runs the proof; resolves to its exit code and its report. */
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
  // However slow the machine is, the limit is not what ends it.
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
