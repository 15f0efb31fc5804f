// Runs the benchmarks on the code as it is shipped: compiles them with it. After a build, which writes the code of its threads and
// their tokens.

import { spawnSync } from 'node:child_process';
import { tsc } from './tsc.js';

process.exitCode = tsc('-p', 'tsconfig.bench.json');
if (process.exitCode === 0) {
  const args = ['.bench/bench/run.js', ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
}
