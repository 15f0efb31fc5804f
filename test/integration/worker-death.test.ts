// Killing worker threads during a session does not change its result.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { createCompactor } from 'ctxfold';
import type { Compactor, CompactorOptions, FallbackEvent, IContent, Session } from 'ctxfold';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';
import { PLAYS_ALL } from '../support/scale.js';

/** Tracks all threads started from now on, and kills them. */
class Threads {
  readonly started: Worker[] = [];
  /** Whether to kill each thread as soon as it starts. */
  isDeadly = false;

  constructor() {
    const onWorker = (worker: Worker): void => {
      this.started.push(worker);
      if (this.isDeadly) void worker.terminate();
    };
    process.on('worker', onWorker);
    onTestFinished(() => void process.off('worker', onWorker));
  }

  /** Resolves when they have exited. */
  async killAll(): Promise<void> {
    await Promise.all(this.started.map((worker) => worker.terminate()));
  }
}

interface Run {
  readonly session: Session;
  readonly fallbacks: readonly FallbackEvent[];
}

/** `counting`: entries were added. `window`: it is open and working. `rest`: it has closed. */
type Moment = 'counting' | 'window' | 'rest';

interface Script {
  /** Initial entries of the session. */
  readonly restored: number;
  readonly entriesPerTurn: number;
  /** Called during each turn. */
  readonly disturb?: (turn: number, moment: Moment, run: Run) => unknown;
}

const TURNS = 9;

/** Length of a history that keeps a thread busy for a while. */
const MANY = PLAYS_ALL ? 2_000 : 500;

function open(options: CompactorOptions): Compactor {
  const compactor = createCompactor({
    preset: 'specification',
    workspaceRoot: '/w',
    contextLimit: 1_000_000_000,
    ...options,
  });
  onTestFinished(() => compactor.close());
  return compactor;
}

async function play(
  compactor: Compactor,
  entries: readonly IContent[],
  { restored, entriesPerTurn, disturb = () => undefined }: Script,
): Promise<Run> {
  const session = await compactor.createSession({ history: entries.slice(0, restored) });
  const fallbacks: FallbackEvent[] = [];
  session.on('fallback', (event) => fallbacks.push(event));
  const run = { session, fallbacks };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const start = restored + turn * entriesPerTurn;
    session.history.addAll(entries.slice(start, start + entriesPerTurn));
    await nextImmediate();
    await disturb(turn, 'counting', run);
    const window = session.ensureCompressionBeforeSend(`turn ${turn}`);
    await nextImmediate();
    await disturb(turn, 'window', run);
    await window;
    await disturb(turn, 'rest', run);
  }
  return run;
}

/** Plays the same session inline and compares. */
async function expectAsInline(
  { session, fallbacks }: Run,
  entries: readonly IContent[],
  { restored, entriesPerTurn }: Script,
): Promise<void> {
  const inline = await play(open({ offload: 'inline' }), entries, { restored, entriesPerTurn });
  expect(session.history.getAll()).toEqual(inline.session.history.getAll());
  expect(session.history.getTotalTokens()).toBe(inline.session.history.getTotalTokens());
  expect(fallbacks.length).toBeGreaterThan(0);
  for (const { error } of fallbacks) expect(error).toMatchObject({ name: 'WorkerPoolError' });
}

describe('a session whose threads are killed', () => {
  let unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled = [];
    process.on('unhandledRejection', onUnhandled);
  });
  afterEach(async () => {
    await nextImmediate();
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });

  it('ends with the history and the total of one that runs inline', async () => {
    const entries = generateHistory({ entries: PLAYS_ALL ? 10_000 : 500 });
    const threads = new Threads();
    const script: Script = {
      restored: entries.length - TURNS * 5,
      entriesPerTurn: 5,
      disturb: (turn, moment) => {
        if (moment === 'rest') return;
        // First threads die while they work, then also during start, then no more.
        threads.isDeadly = turn === 2;
        if (turn < 4) void threads.killAll();
      },
    };
    const killed = await play(open({ offload: 'snapshot', threads: 2 }), entries, script);
    await expectAsInline(killed, entries, script);
    expect(threads.started.length).toBeGreaterThan(2);
  });

  describe('and whose history is resident', () => {
    it('runs the pass of its window inline, and moves to another thread with the next change', async () => {
      const threads = new Threads();
      let dying: Promise<void> | undefined;
      // So much that no thread has counted it before it is killed.
      const script: Script = {
        restored: 100,
        entriesPerTurn: 100,
        disturb: async (turn, moment) => {
          if (moment === 'window' && turn % 3 === 1) dying = threads.killAll();
          if (moment === 'rest') await dying;
        },
      };
      const entries = generateHistory({ entries: 100 + TURNS * 100 });
      const killed = await play(open({ offload: 'resident', threads: 2 }), entries, script);
      await expectAsInline(killed, entries, script);
      // What a dead thread had counted was recounted elsewhere, which may have failed too.
      const lost = killed.fallbacks.filter(({ task }) => task === 'open');
      expect(lost.length).toBeGreaterThanOrEqual(3);
      for (const { error } of lost) expect(error).toMatchObject({ code: 'WORKER_DIED' });
      expect(killed.session.stats().openings).toBeGreaterThanOrEqual(4);
      expect(killed.session.stats().residentPasses).toBeGreaterThan(0);
    });

    it('reports threads that died before there was a session', async () => {
      const threads = new Threads();
      threads.isDeadly = true;
      const compactor = open({ offload: 'resident', threads: 1 });
      const entries = generateHistory({ entries: MANY });
      const session = await compactor.createSession({ history: entries });
      const fallbacks: FallbackEvent[] = [];
      session.on('fallback', (event) => fallbacks.push(event));
      while (!fallbacks.some(({ task }) => task === 'open')) await nextImmediate();
      threads.isDeadly = false;
      await session.history.waitForTokenUpdates();
      expect(session.history.length).toBe(MANY);
    });

    it('frees its place on the thread when its history is refused', async () => {
      const compactor = open({ offload: 'resident', threads: 1 });
      const entries = generateHistory({ entries: MANY });
      const broken = [...entries, { speaker: 'nobody', blocks: [] } as unknown as IContent];
      await expect(compactor.createSession({ history: broken })).rejects.toThrow(TypeError);
      // Pending work may still finish, but leaves nothing behind.
      const session = await compactor.createSession({ history: entries });
      await session.history.waitForTokenUpdates();
      expect(compactor.stats()).toMatchObject({ sessions: 1, residents: { residentSessions: 1 } });
    });

    it('moves to another thread with the next change when it was at rest', async () => {
      const threads = new Threads();
      // One thread. On a busy machine a second one might still be starting when it is killed, and the pool would only notice
      // later, when it replaces all.
      const compactor = open({ offload: 'resident', threads: 1 });
      const livingThere: unknown[] = [];
      const script: Script = {
        restored: 60,
        entriesPerTurn: 5,
        disturb: async (turn, moment, { fallbacks }) => {
          if (moment !== 'rest' || turn % 3 !== 1) return;
          livingThere.push(compactor.stats().residents?.residentSessions);
          const before = fallbacks.length;
          await threads.killAll();
          while (compactor.stats().residents?.residentSessions !== 0) await nextImmediate();
          // Nothing is pending, so only the next change notices.
          expect(fallbacks.length).toBe(before);
        },
      };
      const entries = generateHistory({ entries: 60 + TURNS * 5 });
      const killed = await play(compactor, entries, script);
      await expectAsInline(killed, entries, script);
      expect(livingThere).toEqual([1, 1, 1]);
      expect(killed.fallbacks.map(({ task }) => task)).toEqual(['open', 'open', 'open']);
      // No window went without: a new line was opened before anything was posted to the dead one.
      expect(killed.session.stats()).toMatchObject({ openings: 4, inlineTasks: 0 });
    });

    it('goes on inline when they die while its line is opened', async () => {
      const threads = new Threads();
      const compactor = open({ offload: 'resident', threads: 1 });
      // Starts the thread, so that it is running when the next session opens a line.
      const first = await compactor.createSession({ history: generateHistory({ entries: 20 }) });
      await first.ensureCompressionBeforeSend('first');
      let dying: Promise<void> | undefined;
      const openings: number[] = [];
      const failures: number[] = [];
      const script: Script = {
        restored: 60,
        entriesPerTurn: 5,
        disturb: async (turn, moment, { session, fallbacks }) => {
          if (moment !== 'rest') return;
          // In the third turn, threads die on start, while a line waits for them.
          threads.isDeadly = turn === 2;
          if (turn === 2) dying = threads.killAll();
          await dying;
          openings.push(session.stats().openings);
          failures.push(fallbacks.filter(({ task }) => task === 'open').length);
        },
      };
      const entries = generateHistory({ entries: 60 + TURNS * 5 });
      const playing = play(compactor, entries, script);
      // The thread has been asked or has already answered; either way, its line is lost.
      const { openings: openedBefore } = compactor.stats();
      while (compactor.stats().pool?.runningTasks === 0) {
        if (compactor.stats().openings > openedBefore) break;
        await nextImmediate();
      }
      dying = threads.killAll();
      const killed = await playing;
      await expectAsInline(killed, entries, script);
      expect(failures[0]).toBeGreaterThan(0);
      expect(openings[2]).toBeGreaterThan(0);
      // One line was lost, and another one could not be opened.
      expect(failures.at(-1)).toBeGreaterThanOrEqual((failures[2] ?? 0) + 2);
      expect(openings[3]).toBe(openings[2]);
    });
  });
});
