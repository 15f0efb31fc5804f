// The pool's queue: order, bound, removal.

import { describe, expect, test } from 'vitest';
import { TaskQueue } from '../../../src/main/offload/task-queue.js';

function queueOf(...items: readonly string[]): TaskQueue<string> {
  const queue = new TaskQueue<string>(3);
  for (const item of items) queue.push(item);
  return queue;
}

describe('TaskQueue', () => {
  test('gives items back in the order in which they came', () => {
    const queue = queueOf('a', 'b', 'c');
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
      'a',
      'b',
      'c',
      undefined,
    ]);
  });

  test('removing from the middle keeps the order of the rest', () => {
    const queue = queueOf('a', 'b', 'c');
    expect(queue.remove('b')).toBe(true);
    expect(queue.remove('b')).toBe(false);
    expect(queue.drain()).toEqual(['a', 'c']);
  });

  test('refuses more than it holds', () => {
    const queue = queueOf('a', 'b', 'c');
    expect(queue.isFull).toBe(true);
    expect(() => {
      queue.push('d');
    }).toThrow(RangeError);
    queue.shift();
    expect(queue.isFull).toBe(false);
  });

  test('is empty after draining', () => {
    const queue = queueOf('a');
    queue.drain();
    expect(queue.size).toBe(0);
  });
});
