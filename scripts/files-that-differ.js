// Compares committed files with freshly generated ones.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns, sorted, the files of two flat folders that are missing in one or differ. */
export function filesThatDiffer(committed, written) {
  const names = new Set([committed, written].flatMap(listFiles));
  return [...names]
    .filter((name) => readText(join(committed, name)) !== readText(join(written, name)))
    .sort();
}

function listFiles(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Ignores line endings, which git may have converted. */
function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : undefined;
}
