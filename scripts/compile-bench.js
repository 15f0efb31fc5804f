// Compiles sources and benchmarks file by file into .bench, with what a worker and a prompt need: for scripts that look at
// the sources as they are written, and not at the few files that they are shipped in.

import { cpSync } from 'node:fs';
import { writeWorkerCode } from './bundle-worker.js';
import { tsc } from './tsc.js';

const PROMPT = 'src/main/prompts/compression.md';

/** @throws Error when something does not compile; the compiler has said what. */
export async function compileBench() {
  await writeWorkerCode();
  if (tsc('-p', 'tsconfig.bench.json') !== 0) throw new Error('The sources do not compile.');
  cpSync(PROMPT, `.bench/${PROMPT}`);
}
