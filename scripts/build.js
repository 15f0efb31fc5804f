// Builds dist from scratch: generates the tokens, compiles, copies the files that are not TypeScript, and bundles the worker, the
// HTML pages and the package entries. `--no-check` skips type checking, for callers that do it themselves.

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
