// Puts the script of the report's page, uPlot and its style sheet into one file, which the command reads
// when it makes a page.

import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from 'rolldown';

const CLIENT = 'src/main/cli/report/client';
const NOTICE = '/* uPlot, Copyright (c) 2022 Leon Sorokin, MIT License */';

/** Checks the types of the script, which needs those of a browser, and writes it to a file. */
export async function bundleReport(file) {
  const { status } = spawnSync(`tsc -p ${CLIENT}`, { stdio: 'inherit', shell: true });
  if (status !== 0) throw new Error('The script of the report does not compile.');
  const { output } = await build({
    input: `${CLIENT}/main.ts`,
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'warn',
    output: { format: 'iife', minify: true, comments: false },
    write: false,
  });
  const { resolve } = createRequire(import.meta.url);
  const style = await readFile(resolve('uplot/dist/uPlot.min.css'), 'utf8');
  const script = `${NOTICE}\n${output[0].code}`;
  // Either would end the element that the script stands in, or hide its end.
  if (/<\/script|<!--/i.test(script))
    throw new Error('The script of the report cannot be inlined.');
  await writeFile(file, JSON.stringify({ script, style: style.trim() }));
}
