// Keeps out of the package what only its tests use: what was compiled file by file and then bundled, and
// declarations that no entry leads to. Says so in dist/.npmignore, where npm looks for it.

import { readdirSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Where a folder ships no file of a kind, one pattern stands for all of them: npm matches each file with each pattern.
 *
 * @param shipped the code and the declarations that are shipped, by paths in dist
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

/** The pattern of all files in the same folder with the same ending. */
function kindOf(file) {
  const ending = /(?:\.d)?\.[a-z]+$/.exec(file)?.[0];
  return posix.join(posix.dirname(file), `*${ending}`);
}
