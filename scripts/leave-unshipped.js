// Keeps out of the package what only its tests use: what was compiled file by file and then bundled, and
// declarations that no entry leads to. Says so in dist/.npmignore, where npm looks for it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { packageEntries } from './package-entries.js';

const DECLARATION = '.d.ts';
const IMPORT = /(?:from |import\(|import )['"](\.[^'"]+)\.js['"]/g;

/** The declarations that the entries lead to. */
function reachableDeclarations() {
  const open = packageEntries();
  const found = new Set(open);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const text = readFileSync(`dist/${name}${DECLARATION}`, 'utf8');
    for (const [, path] of text.matchAll(IMPORT)) {
      const next = posix.join(posix.dirname(name), path);
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return new Set([...found].map((name) => name + DECLARATION));
}

/** @param shipped the code that is shipped, by paths in dist */
export function leaveUnshipped(shipped) {
  const kept = new Set([...shipped, ...reachableDeclarations()]);
  const code = readdirSync('dist', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:c?js|d\.ts|md)$/.test(entry.name))
    .map((entry) => posix.relative('dist', posix.join(entry.parentPath ?? entry.path, entry.name)));
  const left = code.filter((file) => !kept.has(file));
  writeFileSync('dist/.npmignore', left.map((file) => `/${file}\n`).join(''));
}
