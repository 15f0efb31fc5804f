// Measures what importing a package entry costs over an empty process: time and resident memory, as medians. Runs alternate, so
// that a busy machine slows down both. After a build: `npm run import-cost`, or `-- openai` for another entry.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const RUNS = 15;
const [entry = 'index'] = process.argv.slice(2);
const url = pathToFileURL(resolve('dist', `${entry}.js`)).href;

function measure(source) {
  const program = `
    const startedAt = performance.now();
    const { user, system } = process.cpuUsage();
    await import('${source}');
    const cpu = process.cpuUsage({ user, system });
    const wallMs = performance.now() - startedAt;
    console.log(JSON.stringify({ wallMs, cpuMs: (cpu.user + cpu.system) / 1e3, rssMb: process.memoryUsage().rss / 1e6 }));`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const empty = [];
const full = [];
for (let run = 0; run < RUNS; run += 1) {
  empty.push(measure('data:text/javascript,'));
  full.push(measure(url));
}
for (const [name, unit] of [
  ['wallMs', 'ms'],
  ['cpuMs', 'ms of processor time'],
  ['rssMb', 'MB'],
]) {
  const [before, after] = [empty, full].map((runs) => median(runs.map((run) => run[name])));
  const more = (after - before).toFixed(1);
  console.log(`${entry}: ${more} ${unit} more than an empty process (${before.toFixed(1)})`);
}
