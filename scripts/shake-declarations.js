// Tree-shakes the declarations in dist from the package entries. Otherwise one internal name in a constructor brings in its whole
// file with all imports.

import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import ts from 'typescript';
import { packageEntries } from './package-entries.js';

const DECLARATION = '.d.ts';

const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/**
 * Rewrites the declarations that the entries reach.
 *
 * @returns their paths in the folder
 */
export function shakeDeclarations(entries = packageEntries(), folder = 'dist') {
  const files = new Map();
  const fileOf = (name) => {
    const known = files.get(name);
    if (known !== undefined) return known;
    const file = readDeclarations(name, `${folder}/${name}${DECLARATION}`);
    files.set(name, file);
    return file;
  };
  const open = entries.flatMap((name) => [...fileOf(name).names.keys()].map((id) => [name, id]));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, id] = next;
    const { names, kept } = fileOf(name);
    if (kept.has(id)) continue;
    kept.add(id);
    for (const place of names.get(id) ?? []) {
      if ('uses' in place) open.push(...place.uses.map((used) => [name, used]));
      else if (place.file !== undefined) open.push([place.file, place.id]);
      else assertInstalled(place.specifier, name);
    }
  }
  for (const [name, file] of files) writeFileSync(`${folder}/${name}${DECLARATION}`, textOf(file));
  return [...files.keys()].map((name) => name + DECLARATION);
}

/**
 * Reads a file: its statements, and what each name refers to: either a statement with all identifiers in it, or a name in another
 * file or package.
 */
function readDeclarations(name, path) {
  const text = readFileSync(path, 'utf8');
  const { statements } = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const names = new Map();
  const add = (id, place) => names.set(id, [...(names.get(id) ?? []), place]);
  for (const statement of statements) {
    const list = namedList(statement);
    if (list !== undefined) {
      const specifier = statement.moduleSpecifier.text;
      const file = specifier.startsWith('.')
        ? posix.join(posix.dirname(name), specifier.replace(/\.js$/, ''))
        : undefined;
      for (const element of list)
        add(element.name.text, {
          specifier,
          file,
          id: (element.propertyName ?? element.name).text,
        });
    } else if (!isEmptyExport(statement)) {
      const uses = wordsOf(statement);
      for (const id of declaredNames(statement)) add(id, { uses });
    }
  }
  return { statements, names, kept: new Set() };
}

/** The names in an import or re-export; `undefined` for other statements. */
function namedList(statement) {
  if (ts.isImportDeclaration(statement)) {
    const { importClause } = statement;
    return importClause.name === undefined ? importClause.namedBindings.elements : [importClause];
  }
  const isFromFile = ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;
  return isFromFile ? statement.exportClause.elements : undefined;
}

function isEmptyExport(statement) {
  return ts.isExportDeclaration(statement) && statement.exportClause.elements.length === 0;
}

function declaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.text);
  if (statement.name === undefined || ts.isModuleDeclaration(statement))
    throw new Error(`Not understood in a declaration: ${statement.getText()}`);
  return [statement.name.text];
}

function wordsOf(statement) {
  const words = new Set();
  const walk = (node) => {
    if (ts.isImportTypeNode(node)) throw new Error(`Not understood: ${node.getText()}`);
    if (ts.isIdentifier(node)) words.add(node.text);
    ts.forEachChild(node, walk);
  };
  walk(statement);
  return [...words];
}

function textOf({ statements, kept }) {
  return statements
    .map((statement) => {
      const list = namedList(statement);
      if (list === undefined) {
        const isKept =
          isEmptyExport(statement) || declaredNames(statement).some((id) => kept.has(id));
        return isKept ? statement.getFullText() : '';
      }
      const left = list.filter(({ name }) => kept.has(name.text));
      const text = statement.getFullText();
      if (left.length === list.length || left.length === 0) return left.length === 0 ? '' : text;
      const [before, after] = [list.pos, list.end].map((at) => at - statement.getFullStart());
      const inner = left.map((element) => element.getText()).join(', ');
      return `${text.slice(0, before)} ${inner} ${text.slice(after).trimStart()}`;
    })
    .join('')
    .trimStart();
}

/** Declarations may only refer to peers of the entry. Other packages are bundled or not installed. */
function assertInstalled(specifier, name) {
  const [scope, rest] = specifier.split('/');
  const named = scope.startsWith('@') ? `${scope}/${rest}` : scope;
  if (isBuiltin(specifier) || named in peerDependencies) return;
  throw new Error(`${name}${DECLARATION} names ${named}, which is not a peer.`);
}
