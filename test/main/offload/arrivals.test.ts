// Counts on their way, and who waits for them.

import { describe, expect, it } from 'vitest';
import { Arrivals } from '../../../src/main/offload/arrivals.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';

const [first, second, third]: readonly [IContent, IContent, IContent] = [
  humanText('1'),
  humanText('2'),
  humanText('3'),
];

/** What became of a promise by now. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  const pending = Symbol('pending');
  const settled = await Promise.race([
    promise.then(
      (value) => value,
      (error: unknown) => String(error),
    ),
    new Promise((resolve) => setImmediate(resolve, pending)),
  ]);
  return settled === pending ? 'pending' : settled;
}

describe('Arrivals', () => {
  it('knows what was sent off, and what has come in', () => {
    const arrivals = new Arrivals();
    expect(arrivals.knows(first)).toBe(false);
    arrivals.expect([first]);
    expect(arrivals.knows(first)).toBe(true);
    arrivals.arrive([first], Int32Array.of(5));
    expect(arrivals.knows(first)).toBe(true);
    expect(arrivals.knows(humanText('1'))).toBe(false);
  });

  it('gives counts once all of them are here, in the order in which they were asked for', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first, second, third]);
    const taken = arrivals.take([third, first, third]);
    const late = arrivals.take([second]);
    arrivals.arrive([first, second], Int32Array.of(1, 2));
    expect(await stateOf(taken)).toBe('pending');
    expect(await late).toEqual([2]);
    arrivals.arrive([third], Int32Array.of(3));
    expect(await taken).toEqual([3, 1, 3]);
    expect(await arrivals.take([first, third])).toEqual([1, 3]);
  });

  it('keeps a count of nothing, and takes none that nobody expects', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first]);
    arrivals.arrive([first, second], Int32Array.of(0, 9));
    expect(await arrivals.take([first])).toEqual([0]);
    expect(arrivals.knows(second)).toBe(false);
  });

  it('tells all who wait that nothing will arrive, and no longer expects it', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first, second]);
    arrivals.arrive([first], Int32Array.of(1));
    const waits = [arrivals.take([first, second]), arrivals.take([second])];
    arrivals.fail(new Error('the line is gone'));
    for (const wait of waits) await expect(wait).rejects.toThrow('the line is gone');
    expect(arrivals.knows(first)).toBe(true);
    expect(arrivals.knows(second)).toBe(false);
  });

  it('gives what is expected once more after it was lost', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first]);
    arrivals.fail(new Error('the line is gone'));
    arrivals.expect([first]);
    const taken = arrivals.take([first]);
    arrivals.arrive([first], Int32Array.of(4));
    expect(await taken).toEqual([4]);
  });
});
