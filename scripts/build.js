// Builds dist from nothing: compiles, copies what is no TypeScript, makes the command executable,
// arranges the tokens that threads count with, and puts the code of a thread, and of the report's page,
// into one file each. With --no-check types are not checked, for somebody else does.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { bundleReport } from './bundle-report.js';
import { bundleWorker } from './bundle-worker.js';

const COMMAND = 'dist/main/cli/main.js';
const TOKENS = 'dist/shared/tokens/o200k.tokens';

/** The tokens are those of OpenAI's tiktoken (MIT), as gpt-tokenizer (MIT) has them. */
async function writeTokens() {
  const { default: tokens } = await import('gpt-tokenizer/bpeRanks/o200k_base');
  const { arrangeTokens } = await import('../dist/shared/tokens/token-table.js');
  const { encodeTokenFile } = await import('../dist/shared/tokens/token-file.js');
  writeFileSync(TOKENS, encodeTokenFile(arrangeTokens(tokens)));
}

rmSync('dist', { recursive: true, force: true });
const noCheck = process.argv.includes('--no-check') ? ' --noCheck' : '';
const { status } = spawnSync(`tsc -p tsconfig.build.json${noCheck}`, {
  stdio: 'inherit',
  shell: true,
});
cpSync('src', 'dist', {
  recursive: true,
  filter: (source) => statSync(source).isDirectory() || !source.endsWith('.ts'),
});
process.exitCode = status ?? 1;
if (status === 0) {
  chmodSync(COMMAND, 0o755);
  await writeTokens();
  rmSync('dist/main/cli/report/client', { recursive: true, force: true });
  await bundleReport('dist/main/cli/report/client.json');
  rmSync('dist/worker', { recursive: true });
  await bundleWorker('dist/worker');
}
