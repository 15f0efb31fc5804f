// Runs the chaos proof and prints what it found: started by scripts/chaos.js, in a process of its own.

import { parseArgs } from 'node:util';
import { runStorm } from './storm.js';

const { values } = parseArgs({
  options: {
    passes: { type: 'string' },
    seed: { type: 'string' },
    worker: { type: 'string' },
  },
});

const report = await runStorm({
  passes: Number(values.passes),
  seed: Number(values.seed),
  workerUrl: new URL(values.worker ?? ''),
});
process.stdout.write(
  `${JSON.stringify({ ...report, resources: process.getActiveResourcesInfo() })}\n`,
);
process.exitCode = report.violations.length === 0 ? 0 : 1;
