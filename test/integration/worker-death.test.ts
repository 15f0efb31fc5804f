// Worker threads that are killed in the middle of a session change nothing about its result.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { createCompactor } from 'ctxfold';
import type { CompactorOptions, FallbackEvent, IContent, TurnOrchestrator } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';

/** Every thread that this process starts from now on, and a way to kill them. */
class Threads {
  readonly started: Worker[] = [];
  /** Kill each thread as soon as it is started. */
  isDeadly = false;

  constructor() {
    const onWorker = (worker: Worker): void => {
      this.started.push(worker);
      if (this.isDeadly) void worker.terminate();
    };
    process.on('worker', onWorker);
    onTestFinished(() => void process.off('worker', onWorker));
  }

  killAll(): void {
    for (const worker of this.started) void worker.terminate();
  }
}

interface Run {
  readonly session: TurnOrchestrator;
  readonly fallbacks: readonly FallbackEvent[];
}

const TURNS = 10;

/** Plays a session; `disturb` is called in the middle of each window, and of counting before it. */
async function play(
  entries: readonly IContent[],
  options: CompactorOptions,
  disturb: (turn: number) => void = () => undefined,
): Promise<Run> {
  const compactor = createCompactor({
    workspaceRoot: '/w',
    contextLimit: 1_000_000_000,
    ...options,
  });
  onTestFinished(() => compactor.close());
  const restored = entries.length - TURNS * 5;
  const session = await compactor.createSession({ history: entries.slice(0, restored) });
  const fallbacks: FallbackEvent[] = [];
  session.on('fallback', (event) => fallbacks.push(event));
  for (let turn = 0; turn < TURNS; turn += 1) {
    const start = restored + turn * 5;
    session.history.addAll(entries.slice(start, start + 5));
    await nextImmediate();
    disturb(turn);
    const window = session.ensureCompressionBeforeSend(`turn ${turn}`);
    await nextImmediate();
    disturb(turn);
    await window;
  }
  return { session, fallbacks };
}

describe('a session whose threads are killed', () => {
  it('ends with the history and the total of one that runs inline', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled));

    const entries = generateHistory({ entries: 10_000 });
    const threads = new Threads();
    const killed = await play(entries, { offload: 'snapshot', threads: 2 }, (turn) => {
      // First they die while they work, then also while they start, then they are left alone.
      threads.isDeadly = turn === 4;
      if (turn < 6) threads.killAll();
    });
    const inline = await play(entries, { offload: 'inline' });
    expect(killed.session.history.getAll()).toEqual(inline.session.history.getAll());
    expect(killed.session.history.getTotalTokens()).toBe(inline.session.history.getTotalTokens());
    expect(threads.started.length).toBeGreaterThan(2);
    expect(killed.fallbacks.length).toBeGreaterThan(0);
    for (const { error } of killed.fallbacks)
      expect(error).toMatchObject({ name: 'WorkerPoolError' });
    await nextImmediate();
    expect(unhandled).toEqual([]);
  }, 120_000);
});
