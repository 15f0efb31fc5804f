// Which texts of a human entry count as included files, in each syntax.

import { describe, expect, it } from 'vitest';
import type { ContentBlock } from '../../../../src/shared/content.js';
import type { InclusionSyntax } from '../../../../src/shared/density.js';
import {
  filesAskedFor,
  findInclusions,
  GROUP_OPENING,
  includedPath,
  INCLUSION_END,
  isInclusion,
} from '../../../../src/shared/density/index/file-inclusions.js';

function text(...lines: readonly string[]): ContentBlock {
  return { type: 'text', text: lines.join('\n') };
}

/** The lines of an included file. */
function file(path: string, ...content: readonly string[]): readonly string[] {
  return [`--- ${path} ---`, ...content, INCLUSION_END];
}

/** The blocks of a referenced file. */
function referenced(path: string, content = 'x'): readonly ContentBlock[] {
  return [text(`\nContent from @${path}:\n`), text(content)];
}

const PICTURE = { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64' } as const;
const [OPEN, CLOSE] = [text(GROUP_OPENING), text(INCLUSION_END)];

/** The inclusions as `path@block`. */
function found(blocks: readonly ContentBlock[], ...syntaxes: readonly InclusionSyntax[]): string {
  const scope = { workspaceRoot: '/work', inclusionSyntaxes: syntaxes };
  return findInclusions(blocks, scope)
    .map(({ path, block }) => `${path}@${block}`)
    .join(' ');
}

describe('findInclusions', () => {
  it('finds the files between paired markers, whatever is asked for', () => {
    const block = text('see', ...file('a.ts', '--- b.ts ---', '--- ', 'x'), ...file('c.ts'));
    expect(found([PICTURE, block], 'delimited')).toBe('a.ts@1 c.ts@1');
    for (const other of [
      text(...file('a.ts'), INCLUSION_END),
      text(...file('a.ts'), '--- b.ts ---'),
      text('--- a.ts ---', 'x'),
      text(` ${file('a.ts').join('\n ')}`),
      text('--- a.ts', INCLUSION_END),
    ]) {
      expect(found([other], 'delimited')).toBe('');
    }
    const [, inclusion] = findInclusions([block], { workspaceRoot: '/work' });
    expect(inclusion).toMatchObject({ start: 60, end: 73 + INCLUSION_END.length });
  });

  it('finds files that the words ask for, each once', () => {
    const asked = (words: string, ...others: readonly ContentBlock[]): string =>
      found([text(words, ...file('a.ts'), ...file('src/b.ts')), ...others], 'asked-for');
    expect(asked('@a.ts and @./src/b.ts.')).toBe('a.ts@0 src/b.ts@0');
    expect(asked('@"a.ts" @src/b.ts')).toBe('a.ts@0 src/b.ts@0');
    expect(asked('@a.ts')).toBe('');
    expect(asked('@a.ts @src/b.ts', text(...file('./a.ts')))).toBe('');
    expect(asked('@a.ts @src/b.ts', text('more'), PICTURE)).toBe('a.ts@0 src/b.ts@0');
    // What follows may be the content of a file.
    expect(asked('@a.ts @src/b.ts', OPEN)).toBe('');
    expect(asked('@a.ts @src/b.ts', text('x', INCLUSION_END))).toBe('');
    expect(found([text(...file('a.ts', '@a.ts'))], 'asked-for')).toBe('');
    expect(found([text('@a.ts')], 'asked-for')).toBe('');
    expect(found([PICTURE, text('@a.ts', ...file('a.ts'))], 'asked-for')).toBe('a.ts@1');
    expect(found([PICTURE], 'asked-for')).toBe('');
  });

  it('finds the files of groups, until what they hold could be a marker', () => {
    const group = [OPEN, ...referenced('a.ts'), ...referenced('b c.ts'), CLOSE];
    expect(found([text('see'), ...group, ...group], 'referenced-files')).toBe(
      'a.ts@2 b c.ts@4 a.ts@8 b c.ts@10',
    );
    expect(found(group, 'delimited')).toBe('');
    const asked = [text('@d.ts'), ...group, text(...file('d.ts'))];
    expect(found(asked, 'referenced-files')).toBe('a.ts@2 b c.ts@4');
    const both = [...group, text(...file('d.ts'))];
    expect(found(both, 'referenced-files', 'delimited')).toBe('a.ts@1 b c.ts@3 d.ts@6');
    const hidden = [OPEN, ...referenced('a.ts', file('d.ts').join('\n')), CLOSE];
    expect(found(hidden, 'referenced-files', 'delimited')).toBe('a.ts@1');
    const [heading = PICTURE] = referenced('a.ts');
    for (const other of [OPEN, CLOSE, heading, PICTURE]) {
      expect(found([OPEN, heading, other, CLOSE, ...group], 'referenced-files')).toBe('');
    }
    expect(found([OPEN, ...referenced('a.ts'), ...group], 'referenced-files')).toBe('');
    expect(found([OPEN, ...referenced('a'.repeat(9_000)), CLOSE], 'referenced-files')).toBe('');
  });
});

describe('isInclusion', () => {
  it('is true of exactly the ranges that are found', () => {
    const block = text('see', ...file('a.ts', 'x'), 'and');
    expect(isInclusion(block, { start: 4, end: 42 })).toBe(true);
    expect(includedPath(block, 4)).toBe('a.ts');
    for (const range of [
      { start: 4, end: 41 },
      { start: 0, end: 42 },
    ]) {
      expect(isInclusion(block, range)).toBe(false);
    }
    expect(isInclusion(PICTURE, { start: 4, end: 42 })).toBe(false);
    expect(isInclusion(undefined, { start: 4, end: 42 })).toBe(false);
    expect(includedPath(text('Content from @a.ts:'), -1)).toBe('a.ts');
    expect(includedPath(text('see'), -1)).toBeNull();
    expect(includedPath(text('see'), 0)).toBeNull();
    expect(includedPath(PICTURE, 0)).toBeNull();
  });
});

describe('filesAskedFor', () => {
  it('takes names with and without what may follow them', () => {
    expect([...filesAskedFor('see @a.ts). not@b.ts @c\\ d.ts @"e f".', '/w')].sort()).toEqual([
      '/w/a.ts',
      '/w/a.ts).',
      '/w/c d.ts',
      '/w/c\\ d.ts',
      '/w/e f',
    ]);
    expect([...filesAskedFor('@?!', '/w')].sort()).toEqual(['/w', '/w/?!']);
  });
});
