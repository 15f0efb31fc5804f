// Builds dist from nothing: arranges the tokens that threads count with, compiles, copies what is no TypeScript,
// and puts the code of a thread, of the pages, and of the package's entries into few files each. With --no-check types are not checked,
// for somebody else does.

import { chmodSync, cpSync, rmSync, statSync } from 'node:fs';
import { bundlePages } from './bundle-pages.js';
import { writeWorkerCode } from './bundle-worker.js';
import { bundlePackage, TOKENS_MODULE } from './bundle-package.js';
import { leaveUnshipped } from './leave-unshipped.js';
import { shakeDeclarations } from './shake-declarations.js';
import { tsc } from './tsc.js';
import { writeTokens } from './write-tokens.js';

await writeTokens();
await writeWorkerCode();
rmSync('dist', { recursive: true, force: true });
const noCheck = process.argv.includes('--no-check') ? ['--noCheck'] : [];
process.exitCode = tsc('-p', 'tsconfig.build.json', ...noCheck);
if (process.exitCode === 0) {
  await bundlePages();
  cpSync('src', 'dist', {
    recursive: true,
    filter: (source) => statSync(source).isDirectory() || !/\.(?:ts|css)$/.test(source),
  });
  for (const page of ['report', 'gateway']) {
    rmSync(`dist/cli/${page}/client`, { recursive: true, force: true });
  }
  const files = await bundlePackage();
  leaveUnshipped([...files, TOKENS_MODULE, ...shakeDeclarations()]);
  chmodSync('dist/cli/main.js', 0o755);
}
