// Checks what pages refer to: links lead to files and headings, commands are scripts of this package, and the page of options has all.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMPACTOR_OPTIONS } from '../../src/main/compactor-options.js';
import { SESSION_OPTIONS } from '../../src/main/session-options.js';
import { SETTING_KEYS } from '../../src/main/settings/settings-registry.js';
import { SHRINKER_NAMES } from '../../src/shared/shrink/shrink-text.js';

const REPOSITORY = new URL('../../', import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, REPOSITORY), 'utf8');

/** Pages in Markdown that people write; the others are generated. */
const PAGES = ['', 'bench/', 'docs/', 'docs/decisions/', 'docs/hosts/'].flatMap((folder) =>
  readdirSync(new URL(folder, REPOSITORY))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}${file}`),
);

/** Run by npm or by other scripts. */
const NOT_FOR_PEOPLE = /^(?:pre|post)|^(?:build|typecheck|eslint)$/;

/** The anchors of a page, as GitHub makes them from headings. */
function anchorsOf(page: string): readonly string[] {
  const headings = page.matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The links of a page that lead to no file, or to no heading of one. */
function brokenLinks(page: string): readonly string[] {
  const text = read(page);
  const links = Array.from(text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g), ([, link = '']) => link);
  return links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = new URL(
      file === '' ? page : new URL(file, new URL(page, REPOSITORY)),
      REPOSITORY,
    );
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
  });
}

describe('pages', () => {
  it('link to files and headings that exist', () => {
    const broken = PAGES.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
    expect(PAGES).toContain('docs/guide.md');
    expect(broken).toEqual([]);
  });

  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: object };

  it('name commands that are scripts', () => {
    const named = PAGES.flatMap((page) =>
      Array.from(read(page).matchAll(/npm run ([a-z:-]+)/g), ([, script = '']) => script),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
  });

  it('have every option in docs/options.md', () => {
    const page = read('docs/options.md');
    const options = [COMPACTOR_OPTIONS, SESSION_OPTIONS, SETTING_KEYS, SHRINKER_NAMES].flat();
    expect(options.length).toBeGreaterThan(40);
    expect(options.filter((option) => !page.includes(`\`${option}\``))).toEqual([]);
  });

  it('quote the figures of docs/fidelity.md', () => {
    const figures = read('docs/fidelity.md');
    const figure = (row: string, column: number): string => {
      const cells = figures.split('\n').find((line) => line.startsWith(`| ${row} `));
      return `${Math.round(parseFloat(cells?.split('|')[column + 1] ?? ''))} %`;
    };
    const [guide, readme] = ['docs/guide.md', 'README.md'].map((page) =>
      read(page).replaceAll(/\s+/g, ' '),
    );
    const [cost, edits] = [2, 3].map((at) => figure('traces: default, batched', at));
    const [few, fewCost] = [3, 2].map((at) => figure('traces: last 10 results per tool', at));
    expect(readme).toContain(`24 of them cost ${cost}, with ${edits} of the edited text in view`);
    expect(guide).toContain(`keep the text of ${edits} of the edits in view`);
    expect(guide).toContain(`Input costs ${cost} of`);
    expect(guide).toContain(`keeps ${few} of the edits and costs ${fewCost}.`);
    const [saved, lossless] = ['default', 'lossless'].map((level) => figure(`\`'${level}'\``, 1));
    expect(guide).toContain(`this saves ${saved} of the input (${lossless} with`);
  });

  it('say in CONTRIBUTING.md what each script does', () => {
    const page = read('CONTRIBUTING.md');
    const told = Object.keys(scripts).filter((script) => !NOT_FOR_PEOPLE.test(script));
    const missing = told.filter((script) => !page.includes(`\`npm run ${script}`));
    expect(missing.filter((script) => !page.includes(`\`npm ${script}\``))).toEqual([]);
  });
});
