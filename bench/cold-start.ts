// The first pass of the first session of a compactor, with the start of its thread, against an empty
// task in a plain pool. Each start in a process of its own.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ColdStart } from './support/cold-start-entry.js';
import type { Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { median } from './support/timing.js';

const SCOPE = 'cold-start';
const RUNS = 7;
const EMPTY: ColdStart = 'empty task';
const PASS: ColdStart = 'first pass';
const STARTS: readonly ColdStart[] = [EMPTY, PASS, 'first pass and count'];

/** The figures stand in the column of the shortest histories, whatever the lengths that are asked for. */
export async function measureColdStart({ sizes }: ScopeContext): Promise<ScopeResult> {
  const times = new Map<ColdStart, number[]>(STARTS.map((start) => [start, []]));
  // By turns, so that what else the machine does falls on all of them.
  for (let run = 0; run < RUNS; run += 1) {
    for (const start of STARTS) times.get(start)?.push(await timeStart(start));
  }
  const measurements: Measurement[] = [];
  const value = (start: ColdStart): number => median(times.get(start) ?? []);
  for (const start of STARTS) {
    measurements.push({
      ...{ scope: SCOPE, name: `${start}, wall`, entries: sizes[0] ?? 0 },
      ...{ value: value(start), unit: 'ms', runs: RUNS },
    });
  }
  const goal = { name: `${PASS} with its thread, of an empty task`, limit: 1.5 };
  return { measurements, goals: [{ ...goal, value: value(PASS) / value(EMPTY) }] };
}

async function timeStart(start: ColdStart): Promise<number> {
  const child = fork(new URL('./support/cold-start-entry.js', import.meta.url), [start]);
  const leaving = once(child, 'exit').then(([code]) => {
    throw new Error(`A process that starts a thread left with code ${String(code)}.`);
  });
  const [wallMs] = (await Promise.race([once(child, 'message'), leaving])) as [number];
  await leaving.catch(() => undefined);
  return wallMs;
}
