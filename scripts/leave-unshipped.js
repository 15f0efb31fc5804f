// Excludes from the package what only tests use: compiled files that were bundled, and declarations that no entry reaches. Writes
// dist/.npmignore, where npm looks for it.

import { readdirSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Where a folder ships no file of an extension, one pattern covers them all, because npm matches each file with each pattern.
 *
 * @param shipped paths in dist of the code and declarations to ship
 */
export function leaveUnshipped(shipped) {
  const kept = new Set(shipped);
  const keptKinds = new Set(shipped.map(kindOf));
  const code = readdirSync('dist', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:c?js|d\.ts|md)$/.test(entry.name))
    .map((entry) => posix.relative('dist', posix.join(entry.parentPath ?? entry.path, entry.name)));
  const left = code.filter((file) => !kept.has(file));
  const patterns = left.map((file) => (keptKinds.has(kindOf(file)) ? file : kindOf(file)));
  writeFileSync('dist/.npmignore', [...new Set(patterns)].map((each) => `/${each}\n`).join(''));
}

/** The pattern for all files in the same folder with the same extension. */
function kindOf(file) {
  const ending = /(?:\.d)?\.[a-z]+$/.exec(file)?.[0];
  return posix.join(posix.dirname(file), `*${ending}`);
}
