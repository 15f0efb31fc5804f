// A chaos run in a separate process, started by scripts/chaos.js: prints a JSON line every few seconds as a sign of life,
// then the report, and must exit by itself.

import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FAULTS } from '../support/chaos-dial.js';
import { runStorm } from './storm.js';

const SECONDS_PER_SIGN_OF_LIFE = 2;

/** Allowed resources: the streams to the parent. */
const OWN_RESOURCES = new Set(['PipeWrap', 'TTYWrap', 'FSReqCallback']);

/** Deadline for closing the handles of exited threads. */
const CLOSED_WITHIN_MS = 10_000;

const { values } = parseArgs({
  options: {
    passes: { type: 'string', default: '' },
    seed: { type: 'string', default: '' },
    longest: { type: 'string', default: '' },
    faults: { type: 'string', default: FAULTS.join() },
    worker: { type: 'string', default: '' },
  },
});

const startedAt = performance.now();
const signsOfLife = setInterval(() => {
  print({ seconds: Math.round((performance.now() - startedAt) / 1_000) });
}, SECONDS_PER_SIGN_OF_LIFE * 1_000);
// Unreferenced, so that it neither counts as a resource nor keeps the process alive.
signsOfLife.unref();

const report = await runStorm({
  passes: Number(values.passes),
  seed: Number(values.seed),
  longest: Number(values.longest),
  faults: FAULTS.filter((fault) => values.faults.split(',').includes(fault)),
  workerUrl: new URL(values.worker),
});
const left = await resourcesLeft();
const violations = [...report.violations, ...left.map((resource) => `a ${resource} is left`)];
clearInterval(signsOfLife);
print({ ...report, violations });
process.exitCode = violations.length === 0 ? 0 : 1;

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** What keeps the process alive, once the list has stopped shrinking. */
async function resourcesLeft(): Promise<readonly string[]> {
  const until = performance.now() + CLOSED_WITHIN_MS;
  for (;;) {
    const left = process.getActiveResourcesInfo().filter((name) => !OWN_RESOURCES.has(name));
    if (left.length === 0 || performance.now() > until) return left;
    await delay(20);
  }
}
