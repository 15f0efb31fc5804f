// The chaos run: sessions on worker threads with injected faults, compared with the same sessions inline. `node scripts/chaos.js
// [--passes n] [--seed n] [--longest entries] [--json]`, after a build. Exits with code 1 when a promise hangs, a result differs,
// memory grows, or the process crashes, blocks or does not exit.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { tsc } from './tsc.js';

/** After this long without output, the main thread is blocked or the process does not exit. */
const SILENT_FOR_MS = 60_000;

const ROOT = resolve(import.meta.dirname, '..');
const WORKER = pathToFileURL(resolve(ROOT, 'test/support/workers/chaos.mjs')).href;

const { values } = parseArgs({
  options: {
    passes: { type: 'string', default: '2600' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    longest: { type: 'string', default: '10000' },
    faults: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
for (const name of ['passes', 'seed', 'longest']) {
  if (!/^[1-9]\d*$/.test(values[name])) {
    throw new RangeError(`Expected --${name} to be a positive integer, got ${values[name]}.`);
  }
}

/** Runs in a child process. Resolves to its report, with a violation added if it crashed or hung. */
async function run() {
  const module = resolve(ROOT, '.bench/test/chaos/run.js');
  const { passes, seed, longest } = values;
  const options = ['--passes', passes, '--seed', seed, '--longest', longest, '--worker', WORKER];
  if (values.faults !== undefined) options.push('--faults', values.faults);
  const child = spawn(process.execPath, ['--expose-gc', module, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const closed = once(child, 'close');
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    child.kill('SIGKILL');
  }, SILENT_FOR_MS);
  let report;
  for await (const line of createInterface(child.stdout)) {
    silence.refresh();
    const message = JSON.parse(line);
    if (message.violations === undefined) showProgress(message);
    else report = message;
  }
  const [code, signal] = await closed;
  clearTimeout(silence);
  report ??= { seed, violations: isSilent ? [] : [`it crashed: ${signal ?? `code ${code}`}`] };
  if (isSilent) report.violations.push(`no output and no exit for ${SILENT_FOR_MS} ms`);
  return report;
}

function showProgress({ seconds }) {
  if (!values.json && process.stderr.isTTY) process.stderr.write(`\r${seconds} s `);
}

function render({ violations, faults, calls, ...figures }) {
  const parts = [];
  if (faults !== undefined) {
    const places = Object.keys(faults);
    const table = new Table({
      head: ['fault', ...places],
      colAligns: ['left', ...places.map(() => 'right')],
      style: { head: [], border: [], compact: true },
    });
    for (const fault of Object.keys(faults[places[0]])) {
      table.push([fault, ...places.map((place) => faults[place][fault])]);
    }
    table.push(['of calls', ...places.map((place) => calls[place])]);
    parts.push(table.toString());
  }
  parts.push(
    Object.entries(figures)
      .map(([name, value]) => `${name}: ${describe(value)}`)
      .join('\n'),
    violations.length === 0 ? 'no violations' : `violations:\n${violations.join('\n')}`,
  );
  return parts.join('\n\n');
}

function describe(value) {
  if (typeof value === 'number') return String(Math.round(value * 10) / 10);
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${describe(part)}`)
    .join(', ');
}

if (tsc('-p', resolve(ROOT, 'scripts/chaos.tsconfig.json')) === 0) {
  if (!values.json) console.log(`seed ${values.seed}, ${values.passes} passes …`);
  const report = await run();
  console.log(values.json ? JSON.stringify(report) : render(report));
  process.exitCode = report.violations.length === 0 ? 0 : 1;
} else {
  process.exitCode = 1;
}
