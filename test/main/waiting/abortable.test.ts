// Waits that end with a signal, without leaving anything behind.

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';

import { abortable, whenAborted } from '../../../src/main/waiting/abortable.js';
import { deferred } from '../../support/session-bench.js';

describe('abortable', () => {
  it('is the promise itself without a signal', () => {
    const promise = Promise.resolve(1);
    expect(abortable(promise, undefined)).toBe(promise);
  });

  it('settles as the promise does, and leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    const reason = new Error('broken');
    expect(await abortable(Promise.resolve(7), signal)).toBe(7);
    await expect(abortable(Promise.reject(reason), signal)).rejects.toBe(reason);
    await Promise.resolve();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('rejects at once with the reason of an aborted signal, whatever it is', async () => {
    await expect(abortable(new Promise(() => 0), AbortSignal.abort('enough'))).rejects.toBe(
      'enough',
    );
    await expect(abortable(Promise.resolve(1), AbortSignal.abort(null))).rejects.toBeNull();
  });

  it('rejects when the signal aborts, and ignores the promise from then on', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const controller = new AbortController();
      const work = deferred<unknown>();
      const waiting = abortable(work.promise, controller.signal);
      controller.abort('enough');
      await expect(waiting).rejects.toBe('enough');
      work[end](new Error('late'));
      await work.promise.catch(() => undefined);
    }
  });
});

describe('whenAborted', () => {
  it('adds one listener for any number of waits, calls each once, and none that was cancelled', () => {
    const controller = new AbortController();
    const called: number[] = [];
    const stops = Array.from({ length: 100 }, (_, at) =>
      whenAborted(controller.signal, () => called.push(at)),
    );
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    for (const stop of stops.slice(2)) stop();
    controller.abort();
    for (const stop of stops) stop();
    expect(called).toEqual([0, 1]);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
