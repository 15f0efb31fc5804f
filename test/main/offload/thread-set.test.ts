// The threads behind a pool.

import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ThreadSet } from '../../../src/main/offload/thread-set.js';

test('stops the threads that did start if the system refuses another one', async () => {
  const terminate = vi.spyOn(Worker.prototype, 'terminate');
  onTestFinished(() => {
    terminate.mockRestore();
  });
  let started = 0;
  const unexpected = vi.fn();
  const start = (): ThreadSet =>
    new ThreadSet({
      code: 'setInterval(() => undefined, 1000)',
      get data() {
        started += 1;
        if (started > 2) throw new Error('no more threads');
        return { tokens: { failure: 'none' } };
      },
      threads: 4,
      maxHeapMb: 64,
      residentsOn: () => 0,
      onChange: unexpected,
      onStrayError: unexpected,
      onNotLoaded: unexpected,
    });

  expect(start).toThrow('no more threads');
  expect(terminate).toHaveBeenCalledTimes(2);
  await Promise.all(terminate.mock.results.map(({ value }) => value as unknown));
  expect(unexpected).not.toHaveBeenCalled();
});
