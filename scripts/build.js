// Builds dist from nothing: compiles, copies what is no TypeScript, makes the command executable.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync, statSync } from 'node:fs';

const COMMAND = 'dist/main/cli/main.js';

rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsc -p tsconfig.build.json', { stdio: 'inherit', shell: true });
cpSync('src', 'dist', {
  recursive: true,
  filter: (source) => statSync(source).isDirectory() || !source.endsWith('.ts'),
});
if (existsSync(COMMAND)) chmodSync(COMMAND, 0o755);
process.exitCode = status ?? 1;
