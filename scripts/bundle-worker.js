// Bundles the worker thread's code into a source module that exports it as text. A thread started from text needs no separate
// file next to a user's bundle, and loading forty files would add 20 ms to its start. Git ignores the module.

import { writeFileSync } from 'node:fs';
import { build } from 'rolldown';
import { NODE } from './bundle-package.js';

const CODE = 'src/main/offload/worker-code.ts';
const TOKENS = './o200k-data.js';

/** The thread receives its tokens from the main thread: only the bundle that started it knows where the token module is. */
const TOKENS_OF_THREAD = `
  import { workerData } from 'node:worker_threads';
  const { text, failure } = workerData.tokens;
  if (text === undefined) throw new Error(failure);
  export const O200K_TOKENS = text;`;

const HANDED_TOKENS = {
  name: 'handed-tokens',
  resolveId: (id) => (id === TOKENS ? TOKENS : undefined),
  load: (id) => (id === TOKENS ? { code: TOKENS_OF_THREAD, moduleType: 'js' } : undefined),
};

export async function writeWorkerCode() {
  const { output } = await build({
    input: 'src/worker/entry.ts',
    platform: 'node',
    transform: { target: NODE },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [HANDED_TOKENS],
    logLevel: 'warn',
    write: false,
    output: {
      format: 'cjs',
      codeSplitting: false,
      minify: { compress: false, mangle: { toplevel: true, keepNames: true } },
    },
  });
  // Wrapped in a function: a minified top-level name can collide with a global, such as `gc` under `--expose-gc`, and the thread
  // would not start.
  const code = `(()=>{${output[0].code}})();//# sourceURL=ctxfold/worker.cjs\n`;
  const head = '// Made by scripts/bundle-worker.js from src/worker.';
  writeFileSync(CODE, `${head}\nexport const WORKER_CODE: string = ${JSON.stringify(code)};\n`);
}
