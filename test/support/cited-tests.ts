// Finds the tests that documentation pages cite, and checks that they exist.

import { readFileSync } from 'node:fs';
import ts from 'typescript';

const REPOSITORY = new URL('../../', import.meta.url);

/** A test by file, relative to `test`, and name. */
export interface Citation {
  readonly file: string;
  readonly name: string;
}

/** The cells of all table rows of a page, without delimiter rows. */
export function tableRows(page: string): readonly (readonly string[])[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
    .filter(([first = '']) => !/^-+$/.test(first));
}

/** Returns the citations in a cell, written as `file › name`. */
export function citationsIn(cell: string): readonly Citation[] {
  return [...cell.matchAll(/`([^`›]+) › ([^`]+)`/g)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));
}

/** A cell that consists of these citations. */
export function citing(citations: readonly Citation[]): string {
  return citations.map(({ file, name }) => `\`${file} › ${name}\``).join(' <br> ');
}

/** The test titles and all strings of a file. */
interface TestFile {
  readonly titles: readonly string[];
  readonly strings: ReadonlySet<string>;
}

/** The names without a test in the file. */
export function missingTests(file: string, names: readonly string[]): readonly string[] {
  const known = readTestFile(file);
  return names.filter((name) => !hasTest(known, name));
}

function readTestFile(file: string): TestFile {
  const source = readFileSync(new URL(`test/${file}`, REPOSITORY), 'utf8');
  const titles: string[] = [];
  const strings = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) strings.add(node.text);
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text);
      else if (title !== undefined && ts.isTemplateExpression(title)) {
        titles.push(title.getText().slice(1, -1));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true));
  return { titles, strings };
}

/** Whether an expression is `it`, `test`, or derived from one: `it.each([…])`, `` it.each`…` ``. */
function isTest(expression: ts.Expression): boolean {
  if (ts.isIdentifier(expression)) return ['it', 'test'].includes(expression.text);
  if (ts.isTaggedTemplateExpression(expression)) return isTest(expression.tag);
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression)) {
    return isTest(expression.expression);
  }
  return false;
}

/** Whether a file has a test of that name: a literal title, or one with placeholders filled by strings of the file. */
function hasTest({ titles, strings }: TestFile, name: string): boolean {
  return titles.some((title) => {
    if (title === name) return true;
    const filled = titlePattern(title).exec(name)?.slice(1) ?? [];
    return filled.length > 0 && filled.every((text) => strings.has(text));
  });
}

function titlePattern(title: string): RegExp {
  const literals = title.split(/%[sdifj]|\$[\w.]+/).map((text) => {
    return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
  return new RegExp(`^${literals.join('(.+)')}$`);
}
