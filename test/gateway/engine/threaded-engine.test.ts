import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThreadedEngine } from '../../../src/gateway/engine/threaded-engine.js';

const threads = vi.hoisted((): SilentThread[] => []);

/** A thread that takes every message and never answers. */
class SilentThread extends EventEmitter {
  readonly terminate = vi.fn(() => this.emit('exit', 1));
  postMessage(): void {}
  unref(): void {}
}

vi.mock('node:worker_threads', () => ({
  Worker: function (): SilentThread {
    const thread = new SilentThread();
    threads.push(thread);
    return thread;
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a thread that does not answer', () => {
  it('is replaced, also if it has replaced another one', async () => {
    const engine = createThreadedEngine({ maxConversations: 1 });
    const ask = (): Promise<unknown> =>
      engine.compact({ api: 'chat', body: new Uint8Array(), scope: 'one' });
    const failed = { outcome: 'failed', reason: 'the thread ended', edits: [] };
    const first = ask();
    threads[0]!.emit('exit', 1);
    expect(await first).toEqual(failed);
    const second = ask();
    vi.advanceTimersByTime(60_000);
    expect(threads.map(({ terminate }) => terminate.mock.calls.length)).toEqual([0, 1]);
    expect(await second).toEqual(failed);
    await engine.close();
  });
});
