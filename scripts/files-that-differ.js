// Compares what is committed with what would be written now.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the files that only one of two flat folders has, or that differ between them, in order. */
export function filesThatDiffer(committed, written) {
  const names = new Set([committed, written].flatMap(listFiles));
  return [...names]
    .filter((name) => readText(join(committed, name)) !== readText(join(written, name)))
    .sort();
}

function listFiles(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Whatever git made of the ends of lines. */
function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : undefined;
}
