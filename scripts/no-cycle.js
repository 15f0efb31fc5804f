// An ESLint rule against import cycles: between files, type imports included, and between folders at run time, without type
// imports. A file that is loaded on demand may import types from its loader. Other files are parsed once per run, by a pattern
// for imports as Prettier formats them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT =
  /^(?:import|export)\s(?<type>type\s)?[^;'"]*?from\s+'(?<from>\.[^']+)'|^import\s+'(?<effect>\.[^']+)'|\bimport\(\s*'(?<demand>\.[^']+)'/gm;

/** Returns the files that a file imports, and the other folders that it imports from at run time. */
function importsOf(file, text) {
  const folder = path.dirname(file);
  const [files, folders] = [new Set(), new Set()];
  for (const { groups } of text.matchAll(IMPORT)) {
    const { type, from, effect, demand } = groups;
    const imported = path.resolve(folder, (from ?? effect ?? demand).replace(/\.js$/, '.ts'));
    if (demand === undefined) files.add(imported);
    if (type === undefined && path.dirname(imported) !== folder) {
      folders.add(path.dirname(imported));
    }
  }
  return { files, folders };
}

function readTree(root) {
  const found = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = found.filter((file) => file.isFile() && file.name.endsWith('.ts'));
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [file, importsOf(file, readFileSync(file, 'utf8'))];
    }),
  );
}

function foldersOf(tree) {
  const imported = new Map();
  for (const [file, { folders }] of tree) {
    const own = path.dirname(file);
    imported.set(own, [...(imported.get(own) ?? []), ...folders]);
  }
  return imported;
}

/** Returns the shortest import cycle through a place, with the place at both ends, or undefined. */
function findWayBack(place, importedBy) {
  const ways = new Map([[place, [place]]]);
  for (const [at, way] of ways) {
    for (const next of importedBy(at)) {
      if (next === place) return [...way, place];
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return undefined;
}

const trees = new Map();

/** Takes the root of the tree as its option. Reports files that are part of a cycle or whose folder is. */
export const noCycle = {
  meta: {
    type: 'problem',
    schema: [{ type: 'string' }],
    defaultOptions: ['src'],
    messages: {
      files: 'Files import each other: {{way}}.',
      folders: 'Folders import each other at run time: {{way}}.',
    },
  },
  create(context) {
    const root = path.resolve(context.cwd, context.options[0]);
    const tree = trees.get(root) ?? readTree(root);
    trees.set(root, tree);
    const file = context.filename;
    return {
      Program(node) {
        const report = (messageId, way) => {
          const names = way?.map((place) => path.relative(context.cwd, place));
          if (names) context.report({ node, messageId, data: { way: names.join(' → ') } });
        };
        const own = importsOf(file, context.sourceCode.text);
        tree.set(file, own);
        report(
          'files',
          findWayBack(file, (at) => tree.get(at)?.files ?? []),
        );
        if (own.folders.size === 0) return;
        const folders = foldersOf(tree);
        const folder = path.dirname(file);
        // Starts with this file's imports only: other files of the folder report theirs.
        report(
          'folders',
          findWayBack(folder, (at) => (at === folder ? own.folders : (folders.get(at) ?? []))),
        );
      },
    };
  },
};
