// The native TypeScript compiler by its path: two packages bring a command `tsc`, and which of them npm links, if any, is a race of its own.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Path of the compiler, a script for Node. */
export const TSC = fileURLToPath(
  new URL('../node_modules/@typescript/native/bin/tsc', import.meta.url),
);

/** Compiles in the terminal. @returns the exit code. */
export function tsc(...args) {
  return spawnSync(process.execPath, [TSC, ...args], { stdio: 'inherit' }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = tsc(...process.argv.slice(2));
}
