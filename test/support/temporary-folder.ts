// Folders of tests.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder that is removed after the test; with `afterAll`, after the file. Its path has no symbolic links. */
export function temporaryFolder(after: (remove: () => void) => void = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ctxfold-')));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
