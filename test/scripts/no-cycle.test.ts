// The lint rule against import cycles between files and folders, on trees of a few files.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { afterEach, describe, expect, it } from 'vitest';
import { noCycle } from '../../scripts/no-cycle.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The messages of the rule for the file `a/one.ts` in a tree of the given files. */
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
      plugins: { tree: { rules: { cycle: noCycle } } },
      rules: { 'tree/cycle': ['error', 'src'] },
    },
    { filename: path.join(cwd, 'src/a/one.ts') },
  );
  return messages.map(({ message }) => message);
}

const BACK = "import { one } from '../a/one.js';\n";

describe('noCycle', () => {
  it('names the cycle, however many folders it passes through', () => {
    const files = {
      'a/one.ts': "import {\n  two,\n  three,\n} from '../b/two.js';\n",
      'b/two.ts': "export { four } from '../c/four.js';\n",
      'c/four.ts': BACK,
    };
    expect(judge(files)).toEqual([
      'Files import each other: src/a/one.ts → src/b/two.ts → src/c/four.ts → src/a/one.ts.',
      'Folders import each other at run time: src/a → src/b → src/c → src/a.',
    ]);
  });

  it.each([
    ["import { two } from '../b/two.js';\n", "import { other } from './other.js';\n"],
    ["import { two } from '../b/two.js';\n", "import type { other } from '../a/other.js';\n"],
    ["import type { two } from '../b/two.js';\n", "import { other } from '../a/other.js';\n"],
  ])('allows imports in one direction: %j %j', (one, two) => {
    expect(judge({ 'a/one.ts': one, 'b/two.ts': two })).toEqual([]);
  });

  it.each([
    ["import type { two } from './two.js';\n", "import { one } from './one.js';\n"],
    ["import type { two } from './two.js';\n", "export type { one } from './one.js';\n"],
    ["import './two.js';\n", "import type { one } from './one.js';\n"],
  ])('includes type imports between files: %j %j', (one, two) => {
    expect(judge({ 'a/one.ts': one, 'a/two.ts': two })).toEqual([
      'Files import each other: src/a/one.ts → src/a/two.ts → src/a/one.ts.',
    ]);
  });

  it('allows a module that is loaded on demand to import types of the loading one', () => {
    const one = "const load = async () => (await import('./two.js')).two;\n";
    const two = "import type { one } from './one.js';\n";
    expect(judge({ 'a/one.ts': one, 'a/two.ts': two })).toEqual([]);
  });

  it('includes dynamic imports between folders', () => {
    const one = "const load = async () => (await import('../b/two.js')).two;\n";
    expect(judge({ 'a/one.ts': one, 'b/two.ts': "import '../a/three.js';\n" })).toHaveLength(1);
  });
});
