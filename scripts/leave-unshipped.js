// Keeps out of the package what only its tests use: what was compiled file by file and then bundled, and
// declarations that no entry leads to. Says so in dist/.npmignore, where npm looks for it.

import { readdirSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';

/** @param shipped the code and the declarations that are shipped, by paths in dist */
export function leaveUnshipped(shipped) {
  const kept = new Set(shipped);
  const code = readdirSync('dist', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:c?js|d\.ts|md)$/.test(entry.name))
    .map((entry) => posix.relative('dist', posix.join(entry.parentPath ?? entry.path, entry.name)));
  const left = code.filter((file) => !kept.has(file));
  writeFileSync('dist/.npmignore', left.map((file) => `/${file}\n`).join(''));
}
