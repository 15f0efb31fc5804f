// The package entries that package.json exports.

import { readFileSync } from 'node:fs';

/** Returns their file names in src and dist, without extension, in the order of package.json. */
export function packageEntries() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const files = Object.values(exports)
    .filter((entry) => typeof entry === 'object')
    .map(({ types }) => types.replace(/^\.\/dist\/|\.d\.ts$/g, ''));
  // Two exports may share a file: some hosts import an entry under a name of their own.
  return [...new Set(files)];
}
