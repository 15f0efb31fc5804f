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
    ['to a dropped call', [a, approval('a'), b], [0], [1]],
    ['to a later call', [approval('a'), a, b], [1], [0]],
    ['to a call that stays', [a, approval('a'), b, approval('b')], [2], [3]],
    ['to a call elsewhere', [a, approval('c')], [0], []],
    ['to no call', [a, approval()], [0], []],
    ['to an id that stays once', [a, a, approval('a')], [0], []],
    ['to an id dropped twice', [a, a, approval('a')], [0, 1], [2]],
  ])('finds blocks bound %s', (_, blocks, dropped, expected) => {
    expect(blocksOfDroppedCalls(blocks, (at) => dropped.includes(at))).toEqual(expected);
  });
});
