// Puts the code of a worker thread into one file: a thread that loads forty takes 20 ms more to
// start. Only that: the calling thread loads its modules once.

import { build } from 'rolldown';

/** Replaces the entry in a folder of compiled worker code by a bundle, which needs none of the others. */
export async function bundleWorker(directory) {
  await build({
    input: 'src/worker/entry.ts',
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'warn',
    output: { dir: directory, format: 'esm', sourcemap: true },
  });
}
