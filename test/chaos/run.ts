// A chaos run in a process of its own, started by scripts/chaos.js: prints the report as one line of
// JSON, and must then end by itself.

import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runStorm } from './storm.js';

const { values } = parseArgs({
  options: {
    passes: { type: 'string', default: '' },
    seed: { type: 'string', default: '' },
    worker: { type: 'string', default: '' },
  },
});

const report = await runStorm({
  passes: Number(values.passes),
  seed: Number(values.seed),
  workerUrl: new URL(values.worker),
});

/** What may be there: the streams to whoever started this. */
const OWN_RESOURCES = new Set(['PipeWrap', 'TTYWrap', 'FSReqCallback']);

// Handles of threads that have ended are closed in the turns that follow.
await delay(100);
const left = process.getActiveResourcesInfo().filter((resource) => !OWN_RESOURCES.has(resource));
const violations = [...report.violations, ...left.map((resource) => `a ${resource} is left`)];
process.stdout.write(`${JSON.stringify({ ...report, violations })}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;
