// Keeps out of the package what only its tests use: what was compiled file by file and then bundled, and
// declarations that no entry leads to. Says so in dist/.npmignore, where npm looks for it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { packageEntries } from './package-entries.js';

const DECLARATION = '.d.ts';
const IMPORT = /(?:from |import\(|import )['"]([^'"]+)['"]/g;

const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The declarations that the entries lead to. */
function reachableDeclarations() {
  const open = packageEntries();
  const found = new Set(open);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const text = readFileSync(`dist/${name}${DECLARATION}`, 'utf8');
    for (const [, specifier] of text.matchAll(IMPORT)) {
      if (!specifier.startsWith('.')) {
        assertInstalled(specifier, name);
        continue;
      }
      const next = posix.join(posix.dirname(name), specifier.replace(/\.js$/, ''));
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return new Set([...found].map((name) => name + DECLARATION));
}

/** Declarations may name what is installed with this package, or by who imports the entry: the rest is bundled, or missing. */
function assertInstalled(specifier, name) {
  const [scope, rest] = specifier.split('/');
  const named = scope.startsWith('@') ? `${scope}/${rest}` : scope;
  if (isBuiltin(specifier) || named in dependencies || named in peerDependencies) return;
  throw new Error(`${name}${DECLARATION} names ${named}, which users may not have.`);
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
