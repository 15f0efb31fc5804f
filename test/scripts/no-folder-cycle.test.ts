// The rule that holds the directions between folders, on trees of a few files.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { afterEach, describe, expect, it } from 'vitest';
import { noFolderCycle } from '../../scripts/no-folder-cycle.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** What the rule says of the file `a/one.ts` in a tree of such files. */
function judge(files: Readonly<Record<string, string>>): readonly string[] {
  const cwd = mkdtempSync(path.join(tmpdir(), 'ctxfold-cycle-'));
  folders.push(cwd);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, 'src', name)), { recursive: true });
    writeFileSync(path.join(cwd, 'src', name), text);
  }
  const messages = new Linter({ cwd }).verify(
    files['a/one.ts'] ?? '',
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      plugins: { tree: { rules: { cycle: noFolderCycle } } },
      rules: { 'tree/cycle': ['error', 'src'] },
    },
    { filename: path.join(cwd, 'src/a/one.ts') },
  );
  return messages.map(({ message }) => message);
}

const BACK = "import { one } from '../a/one.js';\n";

describe('noFolderCycle', () => {
  it('tells the way round, however many folders it leads through', () => {
    const files = {
      'a/one.ts': "import {\n  two,\n  three,\n} from '../b/two.js';\n",
      'b/two.ts': "export { four } from '../c/four.js';\n",
      'c/four.ts': BACK,
    };
    expect(judge(files)).toEqual([
      'Folders import each other at run time: src/a → src/b → src/c → src/a.',
    ]);
  });

  it.each([
    ["import type { two } from '../b/two.js';\n", BACK],
    ["import { two } from '../b/two.js';\n", "import type { one } from '../a/one.js';\n"],
    ["import { two } from '../b/two.js';\n", "export type { one } from '../a/one.js';\n"],
    ["import { two } from '../b/two.js';\n", "import { other } from './other.js';\n"],
  ])('lets imports in one direction be: %j %j', (one, two) => {
    expect(judge({ 'a/one.ts': one, 'b/two.ts': two })).toEqual([]);
  });

  it('counts what is imported when it is needed', () => {
    const one = "const load = async () => (await import('../b/two.js')).two;\n";
    expect(judge({ 'a/one.ts': one, 'b/two.ts': BACK })).toHaveLength(1);
  });
});
