import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineQuestion } from '../../../src/gateway/engine/protocol.js';
import { ThreadedEngine } from '../../../src/gateway/engine/threaded-engine.js';

const threads = vi.hoisted((): SilentThread[] => []);
const system = vi.hoisted(() => ({ hasRoom: true }));

/** A thread that accepts every message and never answers. */
class SilentThread extends EventEmitter {
  readonly terminate = vi.fn(() => this.emit('exit', 1));
  readonly postMessage = vi.fn<(question: EngineQuestion) => void>();
  ref(): void {}
  unref(): void {}
}

vi.mock('node:worker_threads', () => ({
  Worker: function (): SilentThread {
    if (!system.hasRoom) throw new Error('Worker initialization failure: EAGAIN');
    const thread = new SilentThread();
    threads.push(thread);
    return thread;
  },
}));

// Uses the timers that tests replace.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));

beforeEach(() => {
  threads.length = 0;
  system.hasRoom = true;
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const FAILED = { outcome: 'failed', reason: 'the thread ended', edits: [] };

describe('a thread that does not answer', () => {
  it('is replaced, also if it is a replacement itself', async () => {
    const engine = new ThreadedEngine({ maxConversations: 1 });
    const ask = (): Promise<unknown> =>
      engine.compact({ api: 'chat', body: new Uint8Array(), scope: 'one' });
    const first = ask();
    threads[0]!.emit('exit', 1);
    expect(await first).toEqual(FAILED);
    const second = ask();
    vi.advanceTimersByTime(60_000);
    expect(threads.map(({ terminate }) => terminate.mock.calls.length)).toEqual([0, 1]);
    expect(await second).toEqual(FAILED);
    expect(threads).toHaveLength(2);
    await engine.close();
  });

  it('fails calls while the system has no room for another thread, and is replaced later', async () => {
    const engine = new ThreadedEngine({ maxConversations: 1 });
    threads[0]!.emit('exit', 1);
    system.hasRoom = false;
    expect(() => engine.reportRefusal('no', 'm', undefined)).not.toThrow();
    const call = { api: 'chat', body: new Uint8Array(), scope: 'one' } as const;
    expect(await engine.compact(call)).toEqual(FAILED);
    system.hasRoom = true;
    engine.noteBoundReasoning('one');
    expect(threads).toHaveLength(2);
  });

  it('is terminated after its deadline', async () => {
    const engine = new ThreadedEngine({ maxConversations: 1 });
    engine.reportRefusal('no', 'm', undefined);
    const closed = engine.close();
    await vi.advanceTimersByTimeAsync(5_000);
    await closed;
    expect(threads[0]!.terminate).toHaveBeenCalledOnce();
  });
});

describe('an engine that closes', () => {
  it('ends its thread once that has saved its state', async () => {
    const engine = new ThreadedEngine({ maxConversations: 1 });
    engine.reportRefusal('no', 'm', undefined);
    const closed = engine.close();
    await vi.advanceTimersByTimeAsync(100);
    const [thread] = threads;
    const [question] = thread!.postMessage.mock.calls[1]!;
    expect(question.method).toBe('close');
    expect(thread!.terminate).not.toHaveBeenCalled();
    thread!.emit('message', { id: question.id, value: undefined });
    await closed;
    expect(thread!.terminate).toHaveBeenCalledOnce();
  });

  it('does not wait for an unused thread', async () => {
    const engine = new ThreadedEngine({ maxConversations: 1 });
    await engine.close();
    expect(threads[0]!.postMessage).not.toHaveBeenCalled();
    expect(threads[0]!.terminate).toHaveBeenCalledOnce();
  });
});
