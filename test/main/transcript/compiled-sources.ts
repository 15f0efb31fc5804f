// Compiles the transcript's sources to where a child process can load them: it runs what is tested, not
// what was built last.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url));
const SHARED = [
  'main/abortable.ts',
  'shared/content.ts',
  'shared/density.ts',
  'shared/density/index/excerpt.ts',
  'shared/density/index/int-column.ts',
  'shared/errors.ts',
  'shared/misuse.ts',
  'shared/shown-text.ts',
  'shared/summarize/one-line.ts',
  'shared/summarize/placeholder.ts',
  'shared/summarize/tool-summary.ts',
];

/** Compiles into a directory and returns the path of the writer's module there. */
export async function compileTranscript(directory: string): Promise<string> {
  const own = await readdir(join(SOURCES, 'main/transcript'));
  const files = [...own.map((name) => `main/transcript/${name}`), ...SHARED];
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
  };
  for (const file of files) {
    const source = await readFile(join(SOURCES, file), 'utf8');
    const target = join(directory, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, ts.transpileModule(source, { compilerOptions }).outputText);
  }
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  return join(directory, 'main/transcript/transcript-writer.js');
}
