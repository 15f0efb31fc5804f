// Checks how the time of every public function grows with input size: `npm run scaling`, after a build. The subjects are in
// bench/scaling.

import { spawnSync } from 'node:child_process';
import { compileBench } from './compile-bench.js';

await compileBench();
const options = ['--expose-gc', '.bench/bench/scaling/run.js', ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, options, { stdio: 'inherit' }).status ?? 1;
