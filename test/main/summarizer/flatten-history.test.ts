// A history as lines of JSON.

import { describe, expect, it } from 'vitest';

import { flattenHistory } from '../../../src/main/summarizer/flatten-history.js';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

function linesOf(history: readonly IContent[], maxPartCharacters = 8_192): readonly unknown[] {
  return flattenHistory(history, maxPartCharacters).map((line) => JSON.parse(line) as unknown);
}

describe('flattenHistory', () => {
  it('names speakers, tools, and the call of each result', () => {
    expect(
      linesOf(historyOf('h:look a:*s1,r1(a.ts),s2(ls) t:s2!,r1(text) a:done,`x`,%cat.png')),
    ).toEqual([
      { entry: 1, from: 'human', text: 'look' },
      { entry: 2, from: 'ai', tool: 'read_file', use: 1, parameters: '{"file_path":"a.ts"}' },
      { entry: 2, from: 'ai', tool: 'run_shell_command', use: 2, parameters: '{"command":"ls"}' },
      {
        entry: 3,
        from: 'tool',
        tool: 'run_shell_command',
        use: 2,
        error: 'failed',
        result: 'result of s2',
      },
      { entry: 3, from: 'tool', tool: 'read_file', use: 1, result: 'text' },
      { entry: 4, from: 'ai', text: 'done' },
      { entry: 4, from: 'ai', code: 'x' },
      { entry: 4, from: 'ai', filename: 'cat.png', media: 'image/png' },
    ]);
  });

  it('marks a result that is still running, and one without a call', () => {
    expect(linesOf(historyOf('a:r1 t:r1? t:r1 t:r2'))).toMatchObject([
      { use: 1 },
      { use: 1, running: true },
      { use: 1 },
      { use: 0 },
    ]);
  });

  it('omits blanks, reasoning, and the data of media', () => {
    expect(linesOf(historyOf('a:_,*s1 h: a:*'))).toEqual([]);
    expect(flattenHistory(historyOf('h:%'), 100).join()).not.toContain('AAAA');
  });

  it('describes an opaque block by its kind alone', () => {
    expect(linesOf(historyOf('a:r1,&approval(900)=r1'))).toEqual([
      { entry: 1, from: 'ai', tool: 'read_file', use: 1, parameters: '{"file_path":"a.ts"}' },
      { entry: 1, from: 'ai', opaque: 'approval' },
    ]);
  });

  it('continues long texts in further lines without splitting a character', () => {
    const parts = linesOf([humanText('a😀'.repeat(5))], 5);
    expect(parts).toEqual([
      { entry: 1, from: 'human', part: 1, text: 'a😀a' },
      { entry: 1, from: 'human', part: 2, text: '😀a😀' },
      { entry: 1, from: 'human', part: 3, text: 'a😀a' },
      { entry: 1, from: 'human', part: 4, text: '😀' },
    ]);
  });

  it('keeps head and tail of a payload that is too long, and messages of people whole', () => {
    const long = `begin ${'x'.repeat(100_000)} end`;
    const [result] = linesOf([toolContent([toolResponse('1', 'shell', long)])], 1_000_000);
    const text = (result as { result: string }).result;
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^begin x+\n\[… 70010 characters left out …\]\nx+ end$/);
    expect(linesOf([humanText(long)], 1_000_000)).toEqual([
      { entry: 1, from: 'human', text: long },
    ]);
  });
});
