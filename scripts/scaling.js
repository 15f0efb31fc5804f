// Holds the time that everything public takes against the size of what it is given: `npm run scaling`, after a
// build. What it plays stands in bench/scaling.

import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { bundleWorker } from './bundle-worker.js';

/** Runs a command in the terminal and returns its exit code. */
function run(command, args = [], shell = false) {
  return spawnSync(command, args, { stdio: 'inherit', shell }).status ?? 1;
}

process.exitCode = run('tsc -p tsconfig.bench.json', [], true);
if (process.exitCode === 0) {
  await bundleWorker('.bench/src/worker');
  const prompt = 'src/main/prompts/compression.md';
  cpSync(prompt, `.bench/${prompt}`);
  const options = ['--expose-gc', '.bench/bench/scaling/run.js', ...process.argv.slice(2)];
  process.exitCode = run(process.execPath, options);
}
