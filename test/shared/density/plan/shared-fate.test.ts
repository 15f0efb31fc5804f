import { describe, expect, it } from 'vitest';
import { blocksOfDroppedCalls } from '../../../../src/shared/density/plan/materialize.js';
import { toolCall } from '../../../../src/shared/content.js';
import type { ContentBlock } from '../../../../src/shared/content.js';

const approval = (callId?: string): ContentBlock => {
  return { type: 'opaque', kind: 'approval', tokens: 1, ...(callId !== undefined && { callId }) };
};
const a = toolCall('a', 'run', {});
const b = toolCall('b', 'run', {});

describe('blocksOfDroppedCalls', () => {
  it.each<[string, readonly ContentBlock[], readonly number[], readonly number[]]>([
    ['of a call that goes', [a, approval('a'), b], [0], [1]],
    ['in front of its call', [approval('a'), a, b], [1], [0]],
    ['of no call that goes', [a, approval('a'), b, approval('b')], [2], [3]],
    ['of a call elsewhere', [a, approval('c')], [0], []],
    ['of no call', [a, approval()], [0], []],
    ['of an id that stays once', [a, a, approval('a')], [0], []],
    ['of an id that goes twice', [a, a, approval('a')], [0, 1], [2]],
  ])('finds what is bound: %s', (_, blocks, dropped, expected) => {
    expect(blocksOfDroppedCalls(blocks, (at) => dropped.includes(at))).toEqual(expected);
  });
});
