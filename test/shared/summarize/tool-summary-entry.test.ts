// An entry whose results are replaced by lines. For the lines themselves, see tool-summary.test.ts.

import { describe, expect, it } from 'vitest';
import { toolContent, toolResponse } from '../../../src/shared/content.js';
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
});
