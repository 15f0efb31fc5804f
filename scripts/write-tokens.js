// Writes the tokens of o200k as a module of the sources, compressed and as text, so that compilers and bundlers
// take them for what they are: code. Git does not keep it, and a build makes it anew only for other tokens.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'rolldown';

const MODULE = 'src/shared/tokens/o200k-data.ts';
const FOLDER = 'src/shared/tokens';

/** Loads sources that are not compiled yet. */
async function loadSource(code) {
  const { output } = await build({
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) => (id === 'entry' ? code : undefined),
      },
    ],
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    platform: 'node',
    logLevel: 'warn',
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/** The tokens are those of OpenAI's tiktoken (MIT), as gpt-tokenizer (MIT) has them. */
export async function writeTokens() {
  const { version } = createRequire(import.meta.url)('gpt-tokenizer/package.json');
  const format = readFileSync(`${FOLDER}/token-file.ts`, 'utf8').match(/const MARK = (\w+);/)?.[1];
  const head = `// Made by scripts/write-tokens.js from gpt-tokenizer ${version}, in the format ${format}.\n`;
  if (existsSync(MODULE) && readFileSync(MODULE, 'utf8').startsWith(head)) return;
  const { default: tokens } = await import('gpt-tokenizer/bpeRanks/o200k_base');
  const { arrangeTokens, encodeTokenFile } = await loadSource(
    `export { arrangeTokens } from './${FOLDER}/token-table.js';
     export { encodeTokenFile } from './${FOLDER}/token-file.js';`,
  );
  const compressed = brotliCompressSync(encodeTokenFile(arrangeTokens(tokens)), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });
  const text = compressed.toString('base64');
  writeFileSync(MODULE, `${head}\nexport const O200K_TOKENS: string =\n  '${text}';\n`);
}
