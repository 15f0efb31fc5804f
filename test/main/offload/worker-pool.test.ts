// The pool against workers with every kind of failure: each promise settles, and the pool keeps working.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import { WorkerPool } from '../../../src/main/offload/worker-pool.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import { PROBE, codeOf, faulty, held, openPool, workerUrl } from '../../support/faulty-pool.js';
import { PLAYS_ALL } from '../../support/scale.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** All worker threads that this process starts from now until the test ends. */
function watchWorkers(onWorker: (worker: Worker) => void = () => undefined): readonly Worker[] {
  const workers: Worker[] = [];
  const listener = (worker: Worker): void => {
    workers.push(worker);
    onWorker(worker);
  };
  process.on('worker', listener);
  onTestFinished(() => {
    process.off('worker', listener);
  });
  return workers;
}

async function threadOf(pool: WorkerPool): Promise<number> {
  return (await pool.run(PROBE)).value.threadId;
}

// The first task of a process loads the threads' code; later ones start threads at once. This waits until it is loaded.
beforeAll(async () => {
  const pool = new WorkerPool({ threads: 1, workerUrl: workerUrl('faulty.mjs') });
  await pool.run(PROBE);
  await pool.close();
});

describe('WorkerPool', () => {
  describe('with a worker that goes wrong', () => {
    test.each([
      ['throw', 'WORKER_FAILED'],
      ['throwText', 'WORKER_FAILED'],
      ['throwNull', 'WORKER_FAILED'],
      ['nothing', 'WORKER_INVALID_RESULT'],
      ['wrongShape', 'WORKER_INVALID_RESULT'],
      ['exit', 'WORKER_DIED'],
      ['loop', 'WORKER_TIMEOUT'],
      ['never', 'WORKER_TIMEOUT'],
      ['deep', 'WORKER_FAILED'],
      ['outOfMemory', 'WORKER_OUT_OF_MEMORY'],
      ['notCloneable', 'WORKER_DIED'],
    ])('%s rejects with %s, and the next task succeeds', async (fault, code) => {
      const pool = openPool({ maxHeapMb: 16 });
      await pool.run(PROBE);
      const timeoutMs = code === 'WORKER_TIMEOUT' ? 100 : 5_000;
      expect(await codeOf(pool.run(faulty(fault), { timeoutMs }))).toBe(code);
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
    });

    test('the original error is the cause', async () => {
      const pool = openPool();
      const error = await pool.run(faulty('throw')).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WorkerPoolError);
      expect(error).toMatchObject({ cause: { message: 'thrown by the worker' } });
    });

    test('running out of memory names options of a compactor', async () => {
      const pool = openPool({ maxHeapMb: 16 });
      await expect(pool.run(faulty('outOfMemory'))).rejects.toThrow(
        /lower maxResidentSessions, or raise threads/,
      );
    });

    test('an error of the task itself is passed on unchanged and blames no thread', async () => {
      const pool = openPool({ failureThreshold: 1 });
      const error = await pool.run(faulty('taskFailed')).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RangeError);
      expect(error).toMatchObject({ message: 'the pass failed', cause: { message: 'why' } });
      expect(pool.stats.isBroken).toBe(false);
    });

    test('a floating rejection does not end the process, and later tasks succeed', async () => {
      const pool = openPool();
      // The thread's death takes at most one task with it; retries exist for that.
      const codes = [await codeOf(pool.run(faulty('strayRejection')))];
      for (let at = 0; at < 3; at += 1) codes.push(await codeOf(pool.run(PROBE)));
      expect(codes.filter((code) => code === 'resolved').length).toBeGreaterThanOrEqual(3);
    });

    test('counts what threads report', async () => {
      const pool = openPool();
      await pool.run(faulty('strayMessage'));
      await expect.poll(() => pool.stats.strayErrors).toBe(1);
    });

    test('a request that cannot be cloned is refused without blame', async () => {
      const pool = openPool({ failureThreshold: 1 });
      const error = await pool.run(faulty('none', { extra: () => 0 })).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'WORKER_FAILED', cause: { name: 'DataCloneError' } });
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
    });

    test('many mixed faults on two threads all settle, and the pool still serves', async () => {
      const tasks = PLAYS_ALL ? 100 : 28;
      const pool = openPool({ threads: 2, maxQueuedTasks: 200, maxHeapMb: 16 });
      const faults = [
        'throw',
        'exit',
        'never',
        'deep',
        'notCloneable',
        'strayRejection',
        'exitLater',
      ];
      const codes = await Promise.all(
        Array.from({ length: tasks }, (_, at) =>
          codeOf(pool.run(at % 2 === 0 ? PROBE : faulty(faults[at % 7] ?? ''), { timeoutMs: 300 })),
        ),
      );
      expect(codes).toHaveLength(tasks);
      expect(codes.filter((code) => code === 'resolved').length).toBeGreaterThan(tasks / 5);
      // Each thread may still die of an earlier task, and takes one task with it; its replacement works.
      const later: string[] = [];
      for (let at = 0; at < 5; at += 1) later.push(await codeOf(pool.run(PROBE)));
      expect(later.filter((code) => code === 'resolved').length).toBeGreaterThanOrEqual(3);
      expect(pool.stats).toMatchObject({ runningTasks: 0, queuedTasks: 0 });
    });
  });

  describe('with a worker that does not load', () => {
    test.each(['unloadable.mjs', 'missing.mjs'])(
      '%s refuses tasks, after two tries at once',
      async (name) => {
        const pool = openPool({ workerUrl: workerUrl(name), now: () => 0 });
        for (let task = 0; task < 3; task += 1) {
          const error = await pool.run(PROBE).catch((thrown: unknown) => thrown);
          const cause = { code: 'WORKER_FAILED' };
          expect(error).toMatchObject({ code: 'POOL_UNAVAILABLE', cause });
        }
        expect(pool.stats.replacements).toBe(2);
      },
    );

    test('tasks that wait are refused, not left behind', async () => {
      const pool = openPool({ threads: 2, workerUrl: workerUrl('missing.mjs'), now: () => 0 });
      const codes = await Promise.all(Array.from({ length: 9 }, () => codeOf(pool.run(PROBE))));
      expect(new Set(codes)).toEqual(new Set(['POOL_UNAVAILABLE']));
    });

    test('recovers once the worker loads and the pause is over', async () => {
      const folder = temporaryFolder();
      const file = join(folder, 'worker.mjs');
      writeFileSync(file, 'throw new Error("not yet");');
      let time = 0;
      const pool = openPool({ workerUrl: pathToFileURL(file), now: () => time });
      await codeOf(pool.run(PROBE));
      await codeOf(pool.run(PROBE));
      expect(await codeOf(pool.run(PROBE))).toBe('POOL_UNAVAILABLE');
      writeFileSync(file, 'export default () => ({ ok: true, value: { threadId: 1 }, runMs: 0 });');
      expect(await codeOf(pool.run(PROBE))).toBe('POOL_UNAVAILABLE');
      time = 60_000;
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
    });
  });

  describe('with threads that die', () => {
    test('a thread killed while idle is respawned', async () => {
      const workers = watchWorkers();
      const pool = openPool();
      await pool.run(PROBE);
      await workers[0]?.terminate();
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
      expect(workers).toHaveLength(2);
    });

    test('a thread killed while it works rejects its task alone', async () => {
      const workers = watchWorkers();
      const pool = openPool();
      await pool.run(PROBE);
      const running = codeOf(pool.run(held().request));
      const waiting = codeOf(pool.run(PROBE));
      await workers[0]?.terminate();
      expect(await running).toBe('WORKER_DIED');
      expect(await waiting).toBe('resolved');
    });

    test('threads that die while they start are replaced', async () => {
      const isBooting = (count: number): boolean => count > 1 && count < 4;
      let started = 0;
      watchWorkers((worker) => {
        started += 1;
        if (isBooting(started)) void worker.terminate();
      });
      const pool = openPool({ lossToleranceMs: 50 });
      await pool.run(PROBE);
      expect(await codeOf(pool.run(faulty('exit')))).toBe('WORKER_DIED');
      // The second thread dies while it starts, so that none is started in its place. How many tasks are refused until there are threads again depends on the
      // speed of the machine.
      while ((await codeOf(pool.run(PROBE))) !== 'resolved') await nextTurn();
      expect(pool.stats.replacements).toBeGreaterThan(0);
    });

    test('none of 30 tasks hangs while threads are killed at random', async () => {
      const workers = watchWorkers();
      const pool = openPool({ threads: 2, lossToleranceMs: 50 });
      let settled = 0;
      const runs = Array.from({ length: 30 }, async (_, at) => {
        const code = await codeOf(pool.run(PROBE, { timeoutMs: 1_000 }));
        settled += 1;
        if (at % 3 === 0) void workers.at(-1 - (at % 2))?.terminate();
        return code;
      });
      await Promise.all(runs);
      expect(settled).toBe(30);
    });
  });

  describe('queue', () => {
    test('tasks start in the order in which they came, with and without signals', async () => {
      const pool = openPool();
      const gate = held();
      const first = pool.run(gate.request);
      const order: number[] = [];
      const { signal } = new AbortController();
      const runs = Array.from({ length: 20 }, async (_, at) => {
        await pool.run(PROBE, at % 2 === 0 ? {} : { signal });
        order.push(at);
      });
      gate.open();
      await Promise.all([first, ...runs]);
      expect(order).toEqual(Array.from({ length: 20 }, (_, at) => at));
    });

    test('one task more than it holds is refused, signals or not', async () => {
      const pool = openPool({ maxQueuedTasks: 2 });
      await pool.run(PROBE);
      const gate = held();
      const { signal } = new AbortController();
      const runs = [gate.request, PROBE, PROBE].map((request) => pool.run(request, { signal }));
      expect(await codeOf(pool.run(PROBE, { signal }))).toBe('POOL_QUEUE_FULL');
      gate.open();
      await Promise.all(runs);
      expect(await codeOf(pool.run(PROBE, { signal }))).toBe('resolved');
    });

    test('waiting time and running time are reported separately', async () => {
      let time = 0;
      const pool = openPool({ now: () => time });
      await pool.run(PROBE);
      const gate = held();
      const first = pool.run(gate.request);
      const second = pool.run(PROBE);
      time = 40;
      gate.open();
      expect((await first).queueMs).toBe(0);
      expect(await second).toMatchObject({ queueMs: 40, runMs: 0 });
    });

    test('a deadline does not count the wait', async () => {
      const pool = openPool();
      await pool.run(PROBE);
      const gate = held();
      const first = pool.run(gate.request);
      const timers = vi.spyOn(globalThis, 'setTimeout');
      onTestFinished(() => timers.mockRestore());
      const begun = (): number => timers.mock.calls.filter(([, ms]) => ms === 54_321).length;
      const next = pool.run(PROBE, { timeoutMs: 54_321 });
      const waiting = begun();
      gate.open();
      await Promise.all([first, next]);
      expect([waiting, begun()]).toEqual([0, 1]);
    });

    test('an answer that came while the calling thread was blocked beats the deadline', async () => {
      const pool = openPool();
      const thread = await threadOf(pool);
      const gate = new Int32Array(new SharedArrayBuffer(4));
      // Timers run before messages then.
      await nextTurn();
      const late = codeOf(pool.run(faulty('answerAndTell', { gate }), { timeoutMs: 50 }));
      Atomics.wait(gate, 0, 0);
      // The deadline has passed by then, however fast the thread was.
      Atomics.wait(gate, 0, 1, 100);
      expect(await late).toBe('resolved');
      expect(await threadOf(pool)).toBe(thread);
    });
  });

  test('of waiting tasks runs those of the lowest rank first, and equal ones in their order', async () => {
    const pool = openPool();
    await pool.run(PROBE);
    const gate = held();
    const first = pool.run(gate.request);
    const done: number[] = [];
    const ranks = [2, 3, undefined, 2, 1, undefined];
    const all = ranks.map((rank, at) => pool.run(PROBE, { rank }).then(() => done.push(at)));
    gate.open();
    await Promise.all([first, ...all]);
    expect(done).toEqual([2, 5, 4, 0, 3, 1]);
  });

  describe('abort', () => {
    test('before: rejects with the reason and starts nothing', async () => {
      const pool = openPool();
      const reason = new Error('changed my mind');
      await expect(pool.run(PROBE, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(pool.stats.runningTasks).toBe(0);
    });

    test('while it waits: leaves the queue at once', async () => {
      const pool = openPool();
      await pool.run(PROBE);
      const gate = held();
      const first = pool.run(gate.request);
      const controller = new AbortController();
      const waiting = pool.run(PROBE, { signal: controller.signal });
      controller.abort('no longer');
      await expect(waiting).rejects.toBe('no longer');
      expect(pool.stats.queuedTasks).toBe(0);
      gate.open();
      await first;
    });

    test('while it runs: rejects at once and leaves the thread alone', async () => {
      const pool = openPool();
      const thread = await threadOf(pool);
      const gate = held();
      const controller = new AbortController();
      const running = pool.run(gate.request, { signal: controller.signal });
      controller.abort('no longer');
      await expect(running).rejects.toBe('no longer');
      expect(pool.stats.runningTasks).toBe(1);
      gate.open();
      expect(await threadOf(pool)).toBe(thread);
    });

    test('while it is stuck: its deadline still frees the thread', async () => {
      const pool = openPool();
      const thread = await threadOf(pool);
      const controller = new AbortController();
      const stuck = pool.run(faulty('loop'), { signal: controller.signal, timeoutMs: 100 });
      controller.abort('no longer');
      await expect(stuck).rejects.toBe('no longer');
      expect(await threadOf(pool)).not.toBe(thread);
    });

    test('after: changes nothing', async () => {
      const pool = openPool();
      const controller = new AbortController();
      await pool.run(PROBE, { signal: controller.signal });
      controller.abort();
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
    });
  });

  describe('after failures in a row', () => {
    test('refuses at once, then lets one task try, then serves again', async () => {
      let time = 0;
      const pool = openPool({ failureThreshold: 2, coolDownMs: 1_000, now: () => time });
      await pool.run(PROBE);
      await codeOf(pool.run(faulty('wrongShape')));
      await codeOf(pool.run(faulty('wrongShape')));
      expect(pool.stats.isBroken).toBe(true);
      expect(await codeOf(pool.run(PROBE))).toBe('POOL_UNAVAILABLE');
      time = 1_000;
      const codes = [codeOf(pool.run(PROBE)), codeOf(pool.run(PROBE))];
      expect(await Promise.all(codes)).toEqual(['resolved', 'POOL_UNAVAILABLE']);
      expect(await codeOf(pool.run(PROBE))).toBe('resolved');
    });

    test('refuses waiting tasks as well', async () => {
      const pool = openPool({ failureThreshold: 1 });
      const codes = [pool.run(faulty('throw')), pool.run(PROBE), pool.run(PROBE)].map(codeOf);
      expect(await Promise.all(codes)).toEqual([
        'WORKER_FAILED',
        'POOL_UNAVAILABLE',
        'POOL_UNAVAILABLE',
      ]);
    });
  });

  describe('close', () => {
    test('is final, idempotent, and needs no thread to have run', async () => {
      const pool = openPool();
      await Promise.all([pool.close(), pool.close()]);
      expect(pool.isClosed).toBe(true);
      expect(await codeOf(pool.run(PROBE))).toBe('CLOSED');
    });

    test('rejects waiting tasks, gives running ones time', async () => {
      const pool = openPool({ closeTimeoutMs: 5_000 });
      await pool.run(PROBE);
      const gate = held();
      const running = codeOf(pool.run(gate.request));
      const waiting = codeOf(pool.run(PROBE));
      const closing = pool.close();
      expect(await waiting).toBe('CLOSED');
      gate.open();
      expect(await running).toBe('resolved');
      await closing;
    });

    test('stops what is stuck at its deadline', async () => {
      const workers = watchWorkers();
      const pool = openPool({ closeTimeoutMs: 50 });
      const stuck = codeOf(pool.run(faulty('loop')));
      await pool.close();
      expect(await stuck).toBe('CLOSED');
      expect(workers.map((worker) => worker.threadId)).toEqual([-1]);
    });

    test('does not wait for a task that nobody awaits', async () => {
      const pool = openPool({ closeTimeoutMs: 60_000 });
      await pool.run(PROBE);
      const controller = new AbortController();
      const abandoned = codeOf(pool.run(faulty('loop'), { signal: controller.signal }));
      controller.abort('left');
      await pool.close();
      expect(await abandoned).toBe('left');
    });

    test('is not delayed by threads that were given up', async () => {
      const pool = openPool({ threads: 2, closeTimeoutMs: 50 });
      const stuck = codeOf(pool.run(faulty('loop')));
      await codeOf(pool.run(faulty('throw')));
      await pool.close();
      expect(await stuck).toBe('CLOSED');
    });
  });

  test('starts no thread before the first task', () => {
    const workers = watchWorkers();
    openPool({ threads: 4 });
    expect(workers).toHaveLength(0);
  });

  test('gives threads no environment', async () => {
    const { value } = await openPool().run(faulty('environment'));
    expect(value).toMatchObject({ names: [] });
  });
});
