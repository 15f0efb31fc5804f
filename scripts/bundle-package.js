// Puts the entries of the package and the command line into few files, with the small packages that they need:
// an import of 230 files takes four times as long as one of ten. What is loaded only when it is wanted stays apart.

import { readFileSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { build } from 'rolldown';
import { minify } from 'rolldown/utils';
import { packageEntries } from './package-entries.js';

/** The oldest Node that the package runs on: what it cannot read is written in another way. */
export const NODE = 'node20.19';

const COMMAND = 'cli/main';
/** Loaded by its URL, as the entry of a thread. */
const ENGINE_THREAD = 'gateway/engine/engine-thread';
/** As deep as the folder of the command line's entry: the URLs of files that sources name are made anew for it. */
const CHUNKS = 'chunks';
/** The tokens: one file, which the worker's bundle loads too. */
const TOKENS = './o200k-data.js';
export const TOKENS_MODULE = 'shared/tokens/o200k-data.js';

const FILE_URL = /new URL\((['"])(\.[^'"]+)\1, import\.meta\.url\)/g;
const READ_PROMPT = /readFileSync\(new URL\((['"])(\.[^'"]+\.md)\1, import\.meta\.url\), 'utf8'\)/g;

/** Leaves the tokens in a file of their own, and says where that is from the folder of a bundle in dist. */
export function tokensApart(folder) {
  return {
    name: 'tokens-apart',
    resolveId(id) {
      if (id !== TOKENS) return undefined;
      return { id: posix.relative(folder, TOKENS_MODULE), external: 'relative' };
    },
  };
}

/** Has sources find, from where the bundle puts them, the files that they name; a prompt becomes part of the code. */
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

/** Chunks of packages, by their names: they change with their versions alone, and nobody reads them. */
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

/** Bundles into dist, where the compiled files of the same names are replaced. Returns the files that it wrote. */
export async function bundlePackage() {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const packages = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
  const names = [...packageEntries(), COMMAND, ENGINE_THREAD];
  const { output } = await build({
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    transform: { target: NODE },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    external: packages.map((name) => new RegExp(`^${name}(/|$)`)),
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
