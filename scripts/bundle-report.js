// Puts the scripts of pages into a file each, which the command reads when it makes a page: that of the report with uPlot and
// its style sheet.

import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from 'rolldown';
import { tsc } from './tsc.js';

const REPORT = 'src/cli/report/client';
const GATEWAY = 'src/cli/gateway/client';
const NOTICE = '/* uPlot, Copyright (c) 2022 Leon Sorokin, MIT License */';

/** Checks the types of the script, which needs those of a browser, and writes it to a file. */
export async function bundleReport(file) {
  const { resolve } = createRequire(import.meta.url);
  const style = await readFile(resolve('uplot/dist/uPlot.min.css'), 'utf8');
  const script = `${NOTICE}\n${await bundleScript(REPORT)}`;
  await writeFile(file, JSON.stringify({ script, style: style.trim() }));
}

/** The same for the script of the gateway's page, which has no style of its own. */
export async function bundleGatewayPage(file) {
  await writeFile(file, JSON.stringify({ script: await bundleScript(GATEWAY) }));
}

async function bundleScript(folder) {
  if (tsc('-p', folder) !== 0) throw new Error(`The script in ${folder} does not compile.`);
  const { output } = await build({
    input: `${folder}/main.ts`,
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'warn',
    output: { format: 'iife', minify: true, comments: false },
    write: false,
  });
  const script = output[0].code;
  // Either would end the element that the script stands in, or hide its end.
  if (/<\/script|<!--/i.test(script)) throw new Error(`The script in ${folder} cannot be inlined.`);
  return script;
}
