// Finds the files that an analysis looks at. Opens none of them.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What was asked for. */
export interface AnalysisSources {
  readonly isFolder: boolean;
  /** In the order of their names. */
  readonly files: readonly string[];
}

/** Folders that no agent keeps its sessions in, below the one that was asked for. */
const SKIPPED_FOLDER = /^(?:\.git|node_modules)$/;

/**
 * Lists the file at a path, or all files in the folder there and in the folders below. A path where
 * nothing is and a folder that cannot be listed count as files: reading them says what is wrong.
 *
 * @throws the signal's reason.
 */
export async function findSources(path: string, signal?: AbortSignal): Promise<AnalysisSources> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return { isFolder, files: [path] };
  const files: string[] = [];
  const pending = [path];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal?.throwIfAborted();
    const listed = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (listed === undefined) files.push(folder);
    for (const found of listed ?? []) {
      const place = join(folder, found.name);
      if (found.isDirectory()) {
        if (!SKIPPED_FOLDER.test(found.name)) pending.push(place);
      } else if (found.isFile() || (found.isSymbolicLink() && (await isFile(place)))) {
        files.push(place);
      }
    }
  }
  return { isFolder, files: files.sort() };
}

/** Links to folders are left alone: they may lead in a circle. */
function isFile(place: string): Promise<boolean> {
  return stat(place).then(
    (found) => found.isFile(),
    () => false,
  );
}
