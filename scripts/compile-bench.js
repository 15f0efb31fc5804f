// Compiles sources and benchmarks file by file into .bench, with the worker's code and the prompt: for scripts that inspect the
// individual sources, not the bundles.

import { cpSync } from 'node:fs';
import { writeWorkerCode } from './bundle-worker.js';
import { tsc } from './tsc.js';

const PROMPT = 'src/main/prompts/compression.md';

/** @throws Error on compile errors, which the compiler has printed. */
export async function compileBench() {
  await writeWorkerCode();
  if (tsc('-p', 'tsconfig.bench.json') !== 0) throw new Error('The sources do not compile.');
  cpSync(PROMPT, `.bench/${PROMPT}`);
}
