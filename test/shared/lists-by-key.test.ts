import { describe, expect, it } from 'vitest';
import { pushTo } from '../../src/shared/lists-by-key.js';

describe('pushTo', () => {
  it('keeps the values of each key in order of arrival', () => {
    const lists = new Map<string, number[]>();
    pushTo(lists, 'a', 1);
    pushTo(lists, 'b', 2);
    pushTo(lists, 'a', 3);
    expect([...lists]).toEqual([
      ['a', [1, 3]],
      ['b', [2]],
    ]);
  });
});
