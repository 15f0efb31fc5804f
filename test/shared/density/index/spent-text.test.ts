// Which texts of a write's arguments are removed, and that the note in their place is true.

import { describe, expect, it } from 'vitest';
import {
  spendableTokens,
  withoutSpentText,
} from '../../../../src/shared/density/index/spent-text.js';

const GONE = '- gone\n'.repeat(40);
const PATCH = `*** Begin Patch\n*** Update File: a.md\n@@\n${GONE}+new\n*** End Patch`;
const LEFT =
  '*** Begin Patch\n*** Update File: a.md\n@@\n-[left out: what this edit has replaced]\n+new\n*** End Patch';

describe('withoutSpentText', () => {
  it('removes from a script the lines that its patches remove, and no list that it writes', () => {
    const list = '- an item of a list\n'.repeat(20);
    const script = (patch: string): string =>
      `cat > b.md <<'E'\n${list}E\napply_patch <<'E'\n${patch}\nE\napply_patch <<'E'\n${patch}\nE\ncat <<'E'\n${list}E\n`;
    expect(withoutSpentText({ command: script(PATCH) })).toEqual({ command: script(LEFT) });
  });

  it('removes the text that an edit replaced, and no patch that it inserted', () => {
    const edit = { old_string: 'x'.repeat(200), new_string: PATCH };
    const shortened = { ...edit, old_string: '[left out: what this edit has replaced]' };
    expect(withoutSpentText(edit)).toEqual(shortened);
    expect(withoutSpentText({ edits: [edit, null] })).toEqual({ edits: [shortened, null] });
  });

  it('removes what was searched from blocks of a text and its replacement, and keeps the replacement', () => {
    const block = (searched: string): string =>
      `<<<<<<< SEARCH\n${searched}=======\nnew\n>>>>>>> REPLACE\n`;
    const open = `------- SEARCH\n${GONE}`;
    const note = '[left out: what this edit has replaced]\n';
    expect(
      withoutSpentText({ path: 'a.md', diff: block(GONE) + block('- short\n') + open }),
    ).toEqual({
      path: 'a.md',
      diff: block(note) + block('- short\n') + open,
    });
    const hostile = '<<<<<<< SEARCH\n'.repeat(40_000);
    expect(withoutSpentText({ diff: hostile })).toEqual({ diff: hostile });
  });

  it.each<[string, object]>([
    ['an object', { edit: { old: GONE, new: 'b' } }],
    ['search', { search: GONE, replace: 'b' }],
    ['a list', { ReplacementChunks: [{ TargetContent: GONE, ReplacementContent: 'b' }] }],
    ['lists in lists', { args: { file: [{ path: 'a.md', diff: [{ oldText: GONE }] }] } }],
  ])('finds the replaced text however its field is named and nested: %s', (_, parameters) => {
    const left = JSON.stringify(withoutSpentText(parameters));
    expect(left).toBe(
      JSON.stringify(parameters).replace(
        JSON.stringify(GONE),
        '"[left out: what this edit has replaced]"',
      ),
    );
    expect(spendableTokens(parameters, false)).toBeGreaterThan(50);
    expect(spendableTokens(parameters, true)).toBe(0);
  });

  it('keeps other long parameters, and what is listed or nested too far', () => {
    const written = { content: 'x'.repeat(200), description: 'y'.repeat(200) };
    expect(withoutSpentText(written)).toEqual({
      ...written,
      content: '[left out: written or read again since]',
    });
    expect(withoutSpentText({ content: 'short' })).toEqual({ content: 'short' });
    const edits = (count: number): object => ({ edits: Array(count).fill({ old: GONE }) });
    expect(withoutSpentText(edits(1_000))).not.toEqual(edits(1_000));
    expect(withoutSpentText(edits(1_001))).toEqual(edits(1_001));
    const deep = { a: { a: { a: { a: { a: { old: GONE } } } } } };
    expect(withoutSpentText(deep)).not.toEqual(deep);
    expect(withoutSpentText({ a: deep })).toEqual({ a: deep });
    expect(withoutSpentText('text')).toBe('text');
  });

  it('counts content in writes of whole files, and everything else in others', () => {
    const content = { path: 'a.ts', content: 'x'.repeat(400) };
    expect(spendableTokens(content, true)).toBeGreaterThan(80);
    expect(spendableTokens(content, false)).toBe(0);
    expect(spendableTokens({ patch: PATCH }, true)).toBe(0);
    expect(spendableTokens({ patch: PATCH }, false)).toBeGreaterThan(50);
    expect(spendableTokens('text', true)).toBe(0);
  });
});
