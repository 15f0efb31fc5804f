// Runs the benchmarks on the code as it is shipped: compiles them with it, and gives its threads the
// one file that a build gives them. After a build, whose tokens they count with.

import { spawnSync } from 'node:child_process';
import { bundleWorker } from './bundle-worker.js';

/** Runs a command in the terminal and returns its exit code. */
function run(command, args = [], shell = false) {
  return spawnSync(command, args, { stdio: 'inherit', shell }).status ?? 1;
}

process.exitCode = run('tsc -p tsconfig.bench.json', [], true);
if (process.exitCode === 0) {
  await bundleWorker('.bench/src/worker');
  process.exitCode = run(process.execPath, ['.bench/bench/run.js', ...process.argv.slice(2)]);
}
