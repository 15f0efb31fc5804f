// Waits with a deadline.

import { getEventListeners } from 'node:events';
import { readFile, stat } from 'node:fs/promises';

import { describe, expect, it, vi } from 'vitest';

import { Deadline, limitSignal, withDeadline } from '../../../src/main/waiting/abortable.js';

const late = (): Error => new Error('late');
const never = (): Promise<never> => new Promise(() => undefined);
/** Blocks, as if the process were suspended. */
const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

describe('withDeadline', () => {
  it('waits forever without a deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let answer: (value: number) => void = () => undefined;
      const work = new Promise<number>((resolve) => {
        answer = resolve;
      });
      const waited = withDeadline(Infinity, undefined, late, () => work);
      await vi.advanceTimersByTimeAsync(1_000_000);
      answer(7);
      expect(await waited).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it('resolves as the work does, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await withDeadline(1_000, signal, late, () => Promise.resolve(7))).toBe(7);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects as the work does, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const failed = withDeadline(1_000, signal, late, () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends work that does not end, and aborts its signal', async () => {
    let heard: unknown;
    const ended = withDeadline(5, undefined, late, (signal) => {
      signal.addEventListener('abort', () => {
        heard = signal.reason;
      });
      return never();
    });
    await expect(ended).rejects.toThrow('late');
    expect(heard).toMatchObject({ message: 'late' });
  });

  it('accepts an answer that came while the process was suspended', async () => {
    const file = import.meta.filename;
    const reading = withDeadline(300, undefined, late, async () => {
      await stat(file);
      return readFile(file, 'utf8');
    });
    standStill(400);
    expect(await reading).toContain('withDeadline');
  });

  it('still ends if none has come', async () => {
    const waiting = withDeadline(20, undefined, late, never);
    standStill(100);
    await expect(waiting).rejects.toThrow('late');
  });

  it('ends at once when the caller aborts, although the process was suspended', async () => {
    const controller = new AbortController();
    const waiting = withDeadline(100, controller.signal, late, never);
    standStill(200);
    setTimeout(() => {
      controller.abort('enough');
    }, 1);
    await expect(waiting).rejects.toBe('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of the caller, before the work and during it', async () => {
    const controller = new AbortController();
    const during = withDeadline(1_000, controller.signal, late, never);
    controller.abort('enough');
    await expect(during).rejects.toBe('enough');
    let isStarted = false;
    const before = withDeadline(1_000, controller.signal, late, () => {
      isStarted = true;
      return never();
    });
    await expect(before).rejects.toBe('enough');
    expect(isStarted).toBe(false);
  });
});

describe('limitSignal', () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it('keeps the process alive until it is stopped, and leaves nothing behind', () => {
    const { signal } = new AbortController();
    const before = timers();
    const limited = limitSignal(1_000, signal, late);
    expect(timers()).toBe(before + 1);
    limited.stop();
    expect(timers()).toBe(before);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is aborted at once by an aborted signal', () => {
    const limited = limitSignal(1_000, AbortSignal.abort('enough'), late);
    limited.stop();
    expect(limited.signal.reason).toBe('enough');
  });
});

describe('Deadline', () => {
  it('gives a thread that was suspended with the process the time to answer', async () => {
    let isExpired = false;
    const deadline = new Deadline(100, () => {
      isExpired = true;
    });
    standStill(200);
    await new Promise((resolve) => setTimeout(resolve, 5));
    deadline.cancel();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isExpired).toBe(false);
  });

  it('calls back once that time has passed as well', async () => {
    let deadline: Deadline | undefined;
    await new Promise<void>((resolve) => {
      deadline = new Deadline(20, resolve);
      standStill(100);
    });
    deadline?.cancel();
  });
});
