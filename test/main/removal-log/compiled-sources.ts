// Compiles the transcript's sources to where a child process can load them: it runs the tested code, not the last build.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url));
const WRITER = 'main/removal-log/removal-log';
const RELATIVE_IMPORT = /^(?:import|export) .*?from '(\.[^']+)\.js';$/gm;
const COMPILER_OPTIONS = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
};

/** Compiles the writer and everything that it imports into a directory, and returns the path of the writer's module there. */
export async function compileTranscript(directory: string): Promise<string> {
  const modules = new Set([WRITER]);
  // The set grows during the loop.
  for (const module of modules) {
    const source = await readFile(join(SOURCES, `${module}.ts`), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions: COMPILER_OPTIONS });
    for (const [, imported = ''] of outputText.matchAll(RELATIVE_IMPORT)) {
      modules.add(join(dirname(module), imported));
    }
    const target = join(directory, `${module}.js`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, outputText);
  }
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  return join(directory, `${WRITER}.js`);
}
