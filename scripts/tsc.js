// The native TypeScript compiler by path: two packages bring a `tsc` command, and npm may link either or none.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Path of the compiler, a Node script. */
export const TSC = fileURLToPath(
  new URL('../node_modules/@typescript/native/bin/tsc', import.meta.url),
);

/** Runs the compiler in this terminal. @returns its exit code */
export function tsc(...args) {
  return spawnSync(process.execPath, [TSC, ...args], { stdio: 'inherit' }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = tsc(...process.argv.slice(2));
}
