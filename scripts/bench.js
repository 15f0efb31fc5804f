// Runs the benchmarks on the code as shipped: compiles both together. Needs a build, which generates the worker code and the
// tokens.

import { spawnSync } from 'node:child_process';
import { tsc } from './tsc.js';

process.exitCode = tsc('-p', 'tsconfig.bench.json');
if (process.exitCode === 0) {
  const args = ['.bench/bench/run.js', ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
}
