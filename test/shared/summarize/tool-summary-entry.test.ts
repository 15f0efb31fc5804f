// An entry whose results are replaced by lines. For the lines themselves, see tool-summary.test.ts.

import { describe, expect, it } from 'vitest';
import { toolContent, toolResponse } from '../../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../../src/shared/density.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';

describe('summarizeEntry', () => {
  it('removes the media of a result with it', () => {
    const seen = { ...toolResponse('c1', 'shot', 'a page\n[image]'), mediaTokens: 1_600 };
    const running = { ...seen, isComplete: false };
    const line = '[shot: 2 lines — success]';

    expect(summarizeEntry(toolContent([seen, running]), 0, () => undefined)).toStrictEqual(
      toolContent([toolResponse('c1', 'shot', line), running]),
    );
  });

  it('keeps results that are no longer than their line, if it is to', () => {
    const line = '[run: 1 line — success]';
    const entry = toolContent([
      toolResponse('c1', 'run', 'x'.repeat(line.length)),
      toolResponse('c2', 'run', 'x'.repeat(line.length + 1)),
      toolResponse('c3', 'run', REMOVED_POINTER),
      toolResponse('c4', 'run', PRUNED_POINTER),
      { ...toolResponse('c5', 'run', 'seen'), mediaTokens: 1_600 },
    ]);
    const results = (keepsShort: boolean): readonly unknown[] =>
      summarizeEntry(entry, 0, () => undefined, 'pointer', keepsShort).blocks.map(
        (block) => block.type === 'tool_response' && block.result,
      );
    const pruned = '[run — success]';
    expect(results(false)).toEqual([line, line, REMOVED_POINTER, pruned, line]);
    expect(results(true)).toEqual(['x'.repeat(line.length), line, REMOVED_POINTER, pruned, line]);
    const short = toolContent([toolResponse('c1', 'run', 'ok')]);
    expect(summarizeEntry(short, 0, () => undefined, 'pointer', true)).toBe(short);
  });
});
