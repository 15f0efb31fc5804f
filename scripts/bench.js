// Runs the benchmarks on the code as it is shipped: compiles them with it, and gives its threads the
// one file that a build gives them. After a build, whose tokens they count with.

import { spawnSync } from 'node:child_process';
import { bundleWorker } from './bundle-worker.js';
import { tsc } from './tsc.js';

process.exitCode = tsc('-p', 'tsconfig.bench.json');
if (process.exitCode === 0) {
  await bundleWorker('.bench/src/worker');
  const args = ['.bench/bench/run.js', ...process.argv.slice(2)];
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
}
