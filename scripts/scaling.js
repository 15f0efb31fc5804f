// Holds the time that everything public takes against the size of what it is given: `npm run scaling`, after a
// build. What it plays stands in bench/scaling.

import { spawnSync } from 'node:child_process';
import { compileBench } from './compile-bench.js';

await compileBench();
const options = ['--expose-gc', '.bench/bench/scaling/run.js', ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, options, { stdio: 'inherit' }).status ?? 1;
