// The first pass of a compactor's first session, including thread start, against an empty task in a plain pool; and the command
// line against an empty Node program. Each start runs in a process of its own.

import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { check } from './support/check.js';
import type { ColdStart } from './support/cold-start-entry.js';
import type { Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { median } from './support/timing.js';

const SCOPE = 'cold-start';
const RUNS = 7;
const EMPTY: ColdStart = 'empty task';
const PASS: ColdStart = 'first pass';
const STARTS: readonly ColdStart[] = [EMPTY, PASS, 'first pass and count'];

/** The command as shipped; benchmarks run after a build. */
const COMMAND = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const IDLE = 'node without a program';
const HELP = 'command line, --help';
/** Node's arguments, and a word that it then prints. */
const COMMANDS: ReadonlyMap<string, { readonly args: readonly string[]; readonly prints: string }> =
  new Map([
    [IDLE, { args: ['-e', '0'], prints: '' }],
    [HELP, { args: [COMMAND, '--help'], prints: 'Exit codes:' }],
    [
      'command line, replay --help',
      { args: [COMMAND, 'replay', '--help'], prints: '--context-limit' },
    ],
  ]);
const COMMAND_RUNS = 15;

/** Reported in the column of the shortest histories, whatever sizes are requested. */
export async function measureColdStart({ sizes }: ScopeContext): Promise<ScopeResult> {
  const times = new Map<ColdStart, number[]>(STARTS.map((start) => [start, []]));
  // Runs alternate, so that other load affects all of them.
  for (let run = 0; run < RUNS; run += 1) {
    for (const start of STARTS) times.get(start)?.push(await timeStart(start));
  }
  const commandTimes = timeCommands();
  const value = (start: ColdStart): number => median(times.get(start) ?? []);
  const commandValue = (command: string): number => median(commandTimes.get(command) ?? []);
  const all = [...times, ...commandTimes].map(([name, values]): Measurement => {
    const figure = { value: median(values), unit: 'ms', runs: values.length } as const;
    return { scope: SCOPE, name: `${name}, wall`, entries: sizes[0] ?? 0, ...figure };
  });
  return {
    measurements: all,
    goals: [
      {
        name: `${PASS} with its thread, of an empty task`,
        limit: 1.5,
        value: value(PASS) / value(EMPTY),
      },
      { name: `${HELP}, of ${IDLE}`, limit: 2, value: commandValue(HELP) / commandValue(IDLE) },
      { name: `${HELP}, ms`, limit: 200, value: commandValue(HELP) },
    ],
  };
}

/** Runs alternate here too. */
function timeCommands(): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>([...COMMANDS.keys()].map((name) => [name, []]));
  for (let run = 0; run < COMMAND_RUNS; run += 1) {
    for (const [name, { args, prints }] of COMMANDS) {
      const startedAt = performance.now();
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      times.get(name)?.push(performance.now() - startedAt);
      check(status === 0 && stdout.includes(prints), `${name} did not print what it should`);
    }
  }
  return times;
}

async function timeStart(start: ColdStart): Promise<number> {
  const child = fork(new URL('./support/cold-start-entry.js', import.meta.url), [start]);
  const leaving = once(child, 'exit').then(([code]) => {
    throw new Error(`A process that starts a thread exited with code ${String(code)}.`);
  });
  const [wallMs] = (await Promise.race([once(child, 'message'), leaving])) as [number];
  await leaving.catch(() => undefined);
  return wallMs;
}
