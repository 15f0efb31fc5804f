// The entries of the package, as package.json exports them.

import { readFileSync } from 'node:fs';

/** Returns their names: those of the files in src and dist, without an ending, in the order of package.json. */
export function packageEntries() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const files = Object.values(exports)
    .filter((entry) => typeof entry === 'object')
    .map(({ types }) => types.replace(/^\.\/dist\/|\.d\.ts$/g, ''));
  // A host may ask for an entry by a name of its own.
  return [...new Set(files)];
}
