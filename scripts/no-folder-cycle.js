// A rule of ESLint: the folders of a tree import each other in one direction at run time. Imports of types alone do not count, as they
// are gone at run time. What other files import is read once per run, by the form that Prettier gives imports.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT =
  /^(?:import|export)\s(?!type\s)[^;'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm;

/** Returns the folders that a file imports from at run time, its own left out, each with how the import is written. */
function importedFolders(file, text) {
  const folder = path.dirname(file);
  const found = Array.from(text.matchAll(IMPORT), (match) => match[1] ?? match[2] ?? match[3]);
  return new Map(
    found
      .map((specifier) => [path.dirname(path.resolve(folder, specifier)), specifier])
      .filter(([imported]) => imported !== folder),
  );
}

function readTree(root) {
  const found = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = found.filter((file) => file.isFile() && file.name.endsWith('.ts'));
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [file, [...importedFolders(file, readFileSync(file, 'utf8')).keys()]];
    }),
  );
}

/** Returns the folders that lead from one to another by imports, both included, or undefined when none do. */
function findWay(imports, from, to) {
  const targets = new Map();
  for (const [file, folders] of imports) {
    const folder = path.dirname(file);
    targets.set(folder, [...(targets.get(folder) ?? []), ...folders]);
  }
  const ways = new Map([[from, [from]]]);
  for (const [folder, way] of ways) {
    if (folder === to) return way;
    for (const next of targets.get(folder) ?? []) {
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return undefined;
}

const trees = new Map();

/** Takes the root of the tree as its option; reports each import that closes a cycle. */
export const noFolderCycle = {
  meta: {
    type: 'problem',
    schema: [{ type: 'string' }],
    defaultOptions: ['src'],
    messages: { cycle: 'Folders import each other at run time: {{way}}.' },
  },
  create(context) {
    const root = path.resolve(context.cwd, context.options[0]);
    const tree = trees.get(root) ?? readTree(root);
    trees.set(root, tree);
    const file = context.filename;
    return {
      Program(node) {
        const imports = importedFolders(file, context.sourceCode.text);
        tree.set(file, [...imports.keys()]);
        const own = path.dirname(file);
        for (const imported of imports.keys()) {
          const way = findWay(tree, imported, own);
          if (way === undefined) continue;
          const names = [own, ...way].map((folder) => path.relative(context.cwd, folder));
          context.report({ node, messageId: 'cycle', data: { way: names.join(' → ') } });
        }
      },
    };
  },
};
