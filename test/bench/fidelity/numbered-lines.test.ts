// The text that an edit of numbered lines replaces.

import { describe, expect, it } from 'vitest';
import { NumberedLines } from '../../../bench/fidelity/numbered-lines.js';
import type { ReplacedText } from '../../../bench/fidelity/replaced-texts.js';
import type { ToolResponseBlock } from '../../../src/index.js';

const WINDOW = `[File: /repo/a.py (40 lines total)]
(9 more lines above)
10:def f():
11:    return 1
12:
13:    # 14:not a line of its own
(27 more lines below)
(Open file: /repo/a.py)
bash-$`;

function response(result: string, error?: string): ToolResponseBlock {
  const block = { type: 'tool_response', callId: '1', toolName: 'open', result } as const;
  return error === undefined ? block : { ...block, error };
}

function replacedBy(
  parameters: unknown,
  ...seen: readonly ToolResponseBlock[]
): readonly ReplacedText[] {
  const window = new NumberedLines();
  for (const each of seen) window.see(each);
  return window.replacedBy({ type: 'tool_call', id: '2', name: 'edit', parameters });
}

const edit = (first: number, last: number): object => {
  return { command: `edit ${first}:${last}\nnew text\nend_of_edit`, path: '/repo/a.py' };
};

describe('NumberedLines', () => {
  it('returns the lines that the window shows under these numbers', () => {
    const lines = ['def f():', 'return 1'];
    expect(replacedBy(edit(10, 12), response(WINDOW))).toEqual([{ file: '/repo/a.py', lines }]);
    const parameters = { start_line: 10, end_line: 12, replacement_text: 'new' };
    expect(replacedBy(parameters, response(WINDOW.replaceAll('\n', '\r\n')))).toEqual([
      { file: '/repo/a.py', lines },
    ]);
  });

  it('returns nothing if a line is not in the window, or is empty', () => {
    expect(replacedBy(edit(9, 10), response(WINDOW))).toEqual([]);
    expect(replacedBy(edit(13, 14), response(WINDOW))).toEqual([]);
    expect(replacedBy(edit(12, 12), response(WINDOW))).toEqual([]);
    expect(replacedBy(edit(10, 12))).toEqual([]);
  });

  it('uses the newest window, not failed results or results without a window', () => {
    const other = response('[File: b.py (1 lines total)]\n10:newer');
    const failed = response(WINDOW.replace('return 1', 'return 2'), 'syntax error');
    const plain = response('10:of a search');
    expect(replacedBy(edit(10, 10), response(WINDOW), other, failed, plain)).toEqual([
      { file: 'b.py', lines: ['newer'] },
    ]);
  });

  it('returns nothing for calls that are no edits of numbered lines', () => {
    const window = response(WINDOW);
    expect(replacedBy({ command: 'goto 10' }, window)).toEqual([]);
    expect(replacedBy({ start_line: 10, end_line: 11 }, window)).toEqual([]);
    expect(replacedBy('edit 10:11 ', window)).toEqual([]);
    expect(replacedBy(null, window)).toEqual([]);
  });
});
