// What is removed with a call, in numbers of blocks with different weights.

import { describe, expect, it } from 'vitest';
import { tokensLostWithCalls } from '../../src/worker/resident-facts.js';
import { historyOf } from '../support/notation.js';

describe('tokensLostWithCalls', () => {
  it.each([
    ['a call without reasoning', 'a:okay,r1', [1, 2]],
    ['a call that reasoning led to alone', 'a:okay,*,r1', [1, 2, 6]],
    ['all reasoning in front of a call', 'a:okay,*,_,*,r1', [1, 2, 4, 8, 26]],
    ['each call that has reasoning of its own', 'a:*,r1,*,r2', [1, 3, 4, 12]],
    ['a call beside text', 'a:*,okay,r1,*,r2', [1, 2, 4, 8, 24]],
    ['calls that are all of an entry', 'a:*,r1,r2', [1, 2, 4]],
    ['calls that share reasoning beside other text', 'a:okay,*,r1,r2', [1, 2, -1, -1]],
    ['a call in front of reasoning', 'a:r1,*', [1, 2]],
  ])('counts what is removed with %s', (_, notation, lost) => {
    const blocks = historyOf(notation)[0]?.blocks ?? [];
    const tokens = blocks.map((__, at) => 2 ** at);
    expect(tokensLostWithCalls(blocks, tokens)).toEqual(lost);
  });
});
