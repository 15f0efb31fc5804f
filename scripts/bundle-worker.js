// Writes the code of a worker thread as a module of the sources that holds it as text: a thread that starts from text needs no
// file beside a bundle, and one that loads forty files takes 20 ms more to start. Git does not keep it.

import { writeFileSync } from 'node:fs';
import { build } from 'rolldown';
import { NODE } from './bundle-package.js';

const CODE = 'src/main/offload/worker-code.ts';
const TOKENS = './o200k-data.js';

/** A thread is handed its tokens: where the module with them is, only the bundle knows that it was started from. */
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
  // In a function: a short name of its own may be that of a global, as `gc` under `--expose-gc`, and the thread would not start.
  const code = `(()=>{${output[0].code}})();//# sourceURL=ctxfold/worker.cjs\n`;
  const head = '// Made by scripts/bundle-worker.js from src/worker.';
  writeFileSync(CODE, `${head}\nexport const WORKER_CODE: string = ${JSON.stringify(code)};\n`);
}
