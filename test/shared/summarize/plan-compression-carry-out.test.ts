// The result of a planned compression in a history with payloads.

import { describe, expect, it } from 'vitest';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import { carryOutCompression } from '../../../src/shared/summarize/plan-compression.js';

describe('carryOutCompression', () => {
  it('removes the media of a result with it', () => {
    const [first, second] = ['c1', 'c2'].map((id) => ({
      ...toolResponse(id, 'shot', 'a page\n[image]'),
      mediaTokens: 1_600,
    }));
    if (first === undefined || second === undefined) throw new Error();
    const history = [humanText('look'), toolContent([first, second])];
    const plan = {
      length: 2,
      drops: Int32Array.of(),
      summarized: Int32Array.of(1, 1),
      lines: ['a line'],
      tokensAfter: Int32Array.of(1, 20),
    };
    const { newHistory, knownTokens } = carryOutCompression(plan, history);

    expect(newHistory).toStrictEqual([
      history[0],
      toolContent([first, toolResponse('c2', 'shot', 'a line')]),
    ]);
    expect([...knownTokens.values()]).toEqual([20]);
  });
});
