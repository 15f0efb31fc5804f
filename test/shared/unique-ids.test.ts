import { describe, expect, it } from 'vitest';
import { UniqueIds } from '../../src/shared/unique-ids.js';

describe('UniqueIds', () => {
  it('numbers ids that are taken, also by such a numbered one', () => {
    const ids = new UniqueIds();
    const taken = ['a', 'a#3', 'a', 'a', 'a#3', 'a', ''].map((id) => ids.take(id));
    expect(taken).toEqual(['a', 'a#3', 'a#2', 'a#4', 'a#3#2', 'a#5', '']);
    expect(['a#4', 'a#6'].map((id) => ids.has(id))).toEqual([true, false]);
  });

  it('takes each id in constant time', () => {
    const ids = new UniqueIds();
    for (let at = 1; at < 100_000; at += 1) ids.take('a');
    expect(ids.take('a')).toBe('a#100000');
  });
});
