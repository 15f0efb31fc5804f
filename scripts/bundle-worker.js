// Puts the code of a worker thread into one file: a thread that loads forty takes 20 ms more to start. It is
// CommonJS, which Piscina loads first, and without making code of text, which a process may forbid.

import { build } from 'rolldown';
import { NODE, tokensApart } from './bundle-package.js';

/** Replaces the entry in a folder of compiled worker code by a bundle, which needs none of the others but the tokens. */
export async function bundleWorker(directory) {
  await build({
    input: 'src/worker/entry.ts',
    platform: 'node',
    transform: { target: NODE },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [tokensApart('worker')],
    logLevel: 'warn',
    output: {
      dir: directory,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      exports: 'default',
      minify: { compress: false, mangle: false },
    },
  });
}
