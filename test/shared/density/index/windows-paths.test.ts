// Windows paths: a file may be spelled with either kind of slash, and its drive in either case.

import type * as NodePath from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readCommand } from '../../../../src/shared/density/index/command-reading.js';
import { filesAskedFor } from '../../../../src/shared/density/index/file-inclusions.js';
import { PathTable, pathKey } from '../../../../src/shared/density/index/text-table.js';

vi.mock('node:path', async (original) => {
  const path = await original<typeof NodePath>();
  return { ...path.win32, posix: path.posix };
});

const ROOT = String.raw`C:\work`;

describe('paths of Windows', () => {
  it('are the same file however tools and commands spell them', () => {
    const commands = [
      String.raw`Get-Content src\a\Index.ts`,
      String.raw`type C:\work\src\a\Index.ts`,
      'cat c:/work/src/a/Index.ts',
      String.raw`cd src\a; cat Index.ts`,
    ];
    const read = commands.flatMap((command) => readCommand(command, ROOT).files);
    const spellings = [...read, String.raw`c:\Work\src\a\index.ts`, 'src/a/Index.ts'];
    const table = new PathTable(ROOT);
    expect(spellings).toHaveLength(6);
    expect(new Set(spellings.map((path) => table.idOf(path)))).toEqual(new Set([0]));
    expect(table.idOf(String.raw`src\b\Index.ts`)).toBe(1);
  });

  it('are found by either spelling', () => {
    const asked = filesAskedFor(String.raw`See @src\a.ts and @C:/work/b.ts.`, ROOT);
    expect(asked).toContain(pathKey(ROOT, 'src/a.ts'));
    expect(asked).toContain(pathKey(ROOT, String.raw`c:\work\b.ts`));
  });
});
