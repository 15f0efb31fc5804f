// Puts the code of a worker thread into one file: a thread that loads forty takes 20 ms more to
// start. Only that: the calling thread loads its modules once.

import { rmSync } from 'node:fs';
import { build } from 'rolldown';

/** Replaces `worker` in a folder of compiled code by the bundle, whose one module is the entry. */
export async function bundleWorker(folder) {
  const directory = `${folder}/worker`;
  rmSync(directory, { recursive: true, force: true });
  await build({
    input: 'src/worker/entry.ts',
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'warn',
    output: { dir: directory, format: 'esm', sourcemap: true },
  });
}
