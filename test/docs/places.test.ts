// Checks the rule of CONTRIBUTING.md for the place of tests: a test mirrors its source, or the file in the same or the parent folder
// through which others import the source.

import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
/** Sources with tests elsewhere: commands in `integration`, scripts of pages in a browser. */
const ELSEWHERE = /^cli\/(?:[a-z-]+\/)*(?:main|commands|[a-z]+-command|run-[a-z]+)\.ts$|\/client\//;
/** The share of sources that may have their test elsewhere, or none. */
const MAX_SHARE = 0.1;

function listFiles(folder: string): readonly string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true })
    .map((file) => String(file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'));
}

/** The sources with code, by path from `src`, with their imports at run time. */
const SOURCES = new Map(
  listFiles('src').flatMap((file): [string, readonly string[]][] => {
    const text = readFileSync(new URL(`src/${file}`, ROOT), 'utf8');
    if (!/^export (?:async )?(?:function|class|const|abstract)/m.test(text)) return [];
    const imports = [...text.matchAll(/^import (?!type )[^;]*?from '(\.[^']+)\.js'/gm)];
    return [[file, imports.map(([, path = '']) => posix.join(posix.dirname(file), `${path}.ts`))]];
  }),
);
const TESTS = listFiles('test').filter((file) => file.endsWith('.test.ts'));

/** Whether there is, for example, `session.test.ts`, or `session-abort.test.ts` for a part of the source. */
function hasOwnTest(source: string): boolean {
  const place = source.replace(/\.ts$/, '');
  return TESTS.some((test) => test === `${place}.test.ts` || test.startsWith(`${place}-`));
}

/** Whether two sources are in the same folder, or the importing one is in the parent folder. */
function isInReach(from: string, to: string): boolean {
  const [above, folder] = [posix.dirname(from), posix.dirname(to)];
  return above === folder || above === posix.dirname(folder);
}

function tested(): ReadonlySet<string> {
  const found = new Set([...SOURCES.keys()].filter(hasOwnTest));
  for (const source of found) {
    for (const imported of SOURCES.get(source) ?? []) {
      if (SOURCES.has(imported) && isInReach(source, imported)) found.add(imported);
    }
  }
  return found;
}

describe('test/', () => {
  it('has a test at the place of each source, or of a source that imports it', () => {
    const found = tested();
    const sources = [...SOURCES.keys()].filter((source) => !ELSEWHERE.test(source));
    const without = sources.filter((source) => !found.has(source));
    expect(sources.length).toBeGreaterThan(300);
    expect(without.length / sources.length, without.join('\n')).toBeLessThanOrEqual(MAX_SHARE);
  });
});
