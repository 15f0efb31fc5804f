// Bundles script and style of each HTML page of the command line into one file, which the command inlines into the page.

import { readFile, writeFile } from 'node:fs/promises';
import { build } from 'rolldown';
import { tsc } from './tsc.js';

const CLI = 'src/cli';
/** The style sheets of each page. */
const PAGES = {
  report: ['report/report.css'],
  gateway: ['report/report.css', 'gateway/gateway.css'],
};

/** Writes the files. Type-checks the scripts, which need the DOM types. */
export async function bundlePages() {
  for (const [page, sheets] of Object.entries(PAGES)) {
    const styles = await Promise.all(sheets.map((sheet) => readFile(`${CLI}/${sheet}`, 'utf8')));
    const script = await bundleScript(`${CLI}/${page}/client`);
    const style = styles.map(withoutFormatting).join('');
    await writeFile(`${CLI}/${page}/client.json`, JSON.stringify({ script, style }));
  }
}

function withoutFormatting(style) {
  return style
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};]) ?/g, '$1');
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
  // Either would end the `<script>` element, or hide its end.
  if (/<\/script|<!--/i.test(script)) throw new Error(`The script in ${folder} cannot be inlined.`);
  return script;
}
