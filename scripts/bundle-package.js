// Bundles the package entries and the command line, with their small dependencies, into a few files: importing 230 files takes
// four times as long as importing ten. Code that is loaded on demand stays separate.

import { readFileSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { build } from 'rolldown';
import { minify } from 'rolldown/utils';
import { packageEntries } from './package-entries.js';

/** The oldest supported Node. Newer syntax is transpiled for it. */
export const NODE = 'node20.19';

const COMMAND = 'cli/main';
/** Loaded by URL, as the entry of a worker thread. */
const ENGINE_THREAD = 'gateway/engine/engine-thread';
/** As deep as the folder of the command line's entry, so that the rewritten file URLs work from both. */
const CHUNKS = 'chunks';
/** The token module: one file, which the worker's bundle loads too. */
const TOKENS = './o200k-data.js';
export const TOKENS_MODULE = 'shared/tokens/o200k-data.js';

const FILE_URL = /new URL\((['"])(\.[^'"]+)\1, import\.meta\.url\)/g;
const READ_PROMPT = /readFileSync\(new URL\((['"])(\.[^'"]+\.md)\1, import\.meta\.url\), 'utf8'\)/g;

/** Keeps the tokens in a separate file, and imports it relative to a bundle's folder in dist. */
export function tokensApart(folder) {
  return {
    name: 'tokens-apart',
    resolveId(id) {
      if (id !== TOKENS) return undefined;
      return { id: posix.relative(folder, TOKENS_MODULE), external: 'relative' };
    },
  };
}

/** Rewrites file URLs in the sources so that they resolve from the bundle, and inlines prompts. */
const FILES = {
  name: 'files',
  transform(code, id) {
    const folder = relative('src', id).split(sep).slice(0, -1).join('/');
    if (folder.startsWith('..') || !code.includes('import.meta.url')) return undefined;
    return code
      .replace(READ_PROMPT, (_, _quote, file) =>
        JSON.stringify(readFileSync(posix.join('src', folder, file), 'utf8')),
      )
      .replace(FILE_URL, (_, quote, file) => {
        const moved = posix.relative(CHUNKS, posix.join(folder, file));
        return `new URL(${quote}${moved}${quote}, import.meta.url)`;
      });
  },
};

/** Chunks for dependencies, by name: they change only with a version, and nobody reads them. */
const PACKAGES = [
  { name: 'package-zod', test: /node_modules\/zod\// },
  { name: 'package-retry', test: /node_modules\/(p-retry|is-network-error)\// },
  { name: 'package-commander', test: /node_modules\/commander\// },
  { name: 'package-progress', test: /node_modules\/cli-progress\// },
];

const SMALL_PACKAGES = {
  name: 'small-packages',
  async renderChunk(code, { name }) {
    if (!name.startsWith('package-')) return undefined;
    return (await minify(name, code, { codegen: true })).code;
  },
};

/** Bundles into dist, over the compiled files of the same names. Returns the files that it wrote. */
export async function bundlePackage() {
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const names = [...packageEntries(), COMMAND, ENGINE_THREAD];
  const { output } = await build({
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    transform: { target: NODE },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    external: Object.keys(peerDependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [FILES, tokensApart(CHUNKS), SMALL_PACKAGES],
    logLevel: 'warn',
    output: {
      dir: 'dist',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
      codeSplitting: { groups: PACKAGES },
      comments: { legal: true, annotation: true, jsdoc: false },
    },
  });
  return output.map(({ fileName }) => fileName);
}
