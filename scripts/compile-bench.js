// Compiles sources and benchmarks file by file into .bench, with what a worker and a prompt need: for scripts that look at
// the sources as they are written, and not at the few files that they are shipped in.

import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { bundleWorker } from './bundle-worker.js';

const PROMPT = 'src/main/prompts/compression.md';

/** @throws Error when something does not compile; the compiler has said what. */
export async function compileBench() {
  const { status } = spawnSync('tsc -p tsconfig.bench.json', { stdio: 'inherit', shell: true });
  if (status !== 0) throw new Error('The sources do not compile.');
  await bundleWorker('.bench/src/worker');
  cpSync(PROMPT, `.bench/${PROMPT}`);
}
