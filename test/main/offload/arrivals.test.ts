// Counts under way, and who waits for them.

import { describe, expect, it } from 'vitest';
import { Arrivals } from '../../../src/main/offload/arrivals.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';

const [first, second, third]: readonly [IContent, IContent, IContent] = [
  humanText('1'),
  humanText('2'),
  humanText('3'),
];

/** The state of a promise now. */
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
  it('knows which entries were posted, and which counts have arrived', () => {
    const arrivals = new Arrivals();
    expect(arrivals.knows(first)).toBe(false);
    arrivals.expect([first]);
    expect(arrivals.knows(first)).toBe(true);
    arrivals.arrive([first], Int32Array.of(5));
    expect(arrivals.knows(first)).toBe(true);
    expect(arrivals.knows(humanText('1'))).toBe(false);
  });

  it('returns counts once all have arrived, in the requested order', async () => {
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

  it('keeps a count of zero, and ignores counts that were not expected', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first]);
    arrivals.arrive([first, second], Int32Array.of(0, 9));
    expect(await arrivals.take([first])).toEqual([0]);
    expect(arrivals.knows(second)).toBe(false);
  });

  it('rejects all waits when nothing will arrive, and expects nothing any more', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first, second]);
    arrivals.arrive([first], Int32Array.of(1));
    const waits = [arrivals.take([first, second]), arrivals.take([second])];
    arrivals.fail(new Error('the line is gone'));
    for (const wait of waits) await expect(wait).rejects.toThrow('the line is gone');
    expect(arrivals.knows(first)).toBe(true);
    expect(arrivals.knows(second)).toBe(false);
  });

  it('returns a count that was expected again after it was lost', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([first]);
    arrivals.fail(new Error('the line is gone'));
    arrivals.expect([first]);
    const taken = arrivals.take([first]);
    arrivals.arrive([first], Int32Array.of(4));
    expect(await taken).toEqual([4]);
  });
});
