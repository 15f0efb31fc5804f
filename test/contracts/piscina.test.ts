// What Piscina 5 does in the cases that the rules of src/main/offload rest on. Not a wish: a test that
// fails after an upgrade says which rule to look at again. Piscina is used directly, ctxfold not at all.

import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { NODE_MAJOR, isPending, openPool, reasonOf, settlement } from './contract-pool.js';
import type { ContractPool } from './contract-pool.js';

interface Task {
  readonly deed: string;
  readonly [argument: string]: unknown;
}

type Options = Parameters<typeof openPool>[2];

function open(context: TestContext, options?: Options): ContractPool<Task> {
  return openPool<Task>(context, 'contract-tasks.mjs', options);
}

const THREAD_ID: Task = { deed: 'threadId' };

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

function sharedInteger(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

function openGate(gate: Int32Array): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

/** A pool whose `loadBalancer` gives what is run in `refuse` to nobody. */
function openRefusing(context: TestContext): {
  readonly pool: ContractPool<Task>['pool'];
  readonly refuse: <Value>(run: () => Value) => Value;
} {
  let isRefusing = false;
  const { pool } = open(context, {
    loadBalancer: (_task, workers) => (isRefusing ? null : (workers[0] ?? null)),
  });
  const refuse = <Value>(run: () => Value): Value => {
    isRefusing = true;
    const value = run();
    isRefusing = false;
    return value;
  };
  return { pool, refuse };
}

/** Hands a port over within a task that ends at once, and returns the other end and the thread's id. */
async function plantPort(
  { pool }: ContractPool<Task>,
  { onTestFinished }: TestContext,
): Promise<{ readonly port: MessagePort; readonly threadId: unknown }> {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const task = { deed: 'keepPort', port: port2 };
  const threadId = await pool.run(task, { transferList: [port2] });
  return { port: port1, threadId };
}

describe.concurrent('Piscina: what comes back from a task', () => {
  test('a result nested 1,000 levels arrives', async (context) => {
    const { pool } = open(context);
    const settled = await settlement(pool.run({ deed: 'nested', levels: 1_000 }));
    expect(settled.status).toBe('fulfilled');
  });

  // Rule: plans are flat, and the depth of anything ingested is capped far below. It begins at some
  // 1,900 levels on Node 20 and 1,700 on Node 24; from some 20,000 on, the thread ends with a RangeError.
  test('a result nested 5,000 levels never settles, no event fires, and the tasks behind it hang', async (context) => {
    const { pool, strayErrors } = open(context);
    const replied = once(pool, 'message');
    const deep = settlement(pool.run({ deed: 'nested', levels: 5_000 }));
    const behind = settlement(pool.run(THREAD_ID));
    expect(await replied).toEqual(['replied']);
    expect(await isPending(Promise.race([deep, behind]))).toBe(true);
    expect(strayErrors).toEqual([]);
    await pool.destroy();
    expect((await deep).status).toBe('rejected');
    expect((await behind).status).toBe('rejected');
  });

  // Rule: workers answer with data, `{ ok: false, error }`, and never by throwing.
  test('an error loses its class, name and code, and keeps its message and cause', async (context) => {
    const { pool } = open(context);
    const reason = await reasonOf(pool.run({ deed: 'throwTrouble' }));
    expect(reason).toBeInstanceOf(Error);
    expect(reason).toMatchObject({ name: 'Error', message: 'trouble', cause: 'the cause' });
    expect(reason).not.toHaveProperty('code');
  });

  // Rule: a reply is checked for its shape; nothing is a failure as well.
  test('a task that throws null resolves to null', async (context) => {
    const { pool } = open(context);
    expect(await pool.run({ deed: 'throwNull' })).toBeNull();
  });

  test('a result that cannot be cloned ends the thread and rejects with an error that says nothing', async (context) => {
    const { pool } = open(context);
    const threadId = await pool.run(THREAD_ID);
    const reason = await reasonOf(pool.run({ deed: 'returnFunction' }));
    // Node 20 makes it a plain object without properties, Node 22 and 24 an Error without a message.
    expect(reason instanceof Error).toBe(NODE_MAJOR >= 22);
    expect(Object.keys(reason as object)).toEqual([]);
    expect((reason as { readonly message?: string }).message ?? '').toBe('');
    expect(await pool.run(THREAD_ID)).not.toBe(threadId);
  });

  test('a message of the worker’s own is the `message` event of the pool', async (context) => {
    const { pool } = open(context);
    const message = once(pool, 'message');
    await pool.run({ deed: 'nested', levels: 1 });
    expect(await message).toEqual(['replied']);
  });
});

describe.concurrent('Piscina: what a task is given', () => {
  test('an argument nested too deep rejects with a RangeError and leaves the thread unharmed', async (context) => {
    const { pool } = open(context);
    const threadId = await pool.run(THREAD_ID);
    const task = { deed: 'echo', value: nested(20_000) };
    expect(await reasonOf(pool.run(task))).toBeInstanceOf(RangeError);
    expect(pool.idleThreads).toBe(1);
    expect(await pool.run(THREAD_ID)).toBe(threadId);
  });

  test('an argument that cannot be cloned rejects with a DataCloneError and leaves the thread unharmed', async (context) => {
    const { pool } = open(context);
    const threadId = await pool.run(THREAD_ID);
    const task = { deed: 'echo', value: () => 0 };
    expect(await reasonOf(pool.run(task))).toMatchObject({ name: 'DataCloneError' });
    expect(pool.idleThreads).toBe(1);
    expect(await pool.run(THREAD_ID)).toBe(threadId);
  });

  // Rule: a session that lives in a thread is reached by a port of its own.
  test('a port in the transferList stays with that thread after the task has ended', async (context) => {
    const opened = open(context, { minThreads: 2, maxThreads: 2 });
    const { port, threadId } = await plantPort(opened, context);
    await Promise.all([opened.pool.run(THREAD_ID), opened.pool.run(THREAD_ID)]);
    const answer = once(port, 'message');
    port.postMessage('who');
    expect(await answer).toEqual([threadId]);
  });

  test('an empty environment is empty in the worker', async (context) => {
    const { pool } = open(context, { env: {} });
    expect(await pool.run({ deed: 'environment' })).toEqual([]);
  });
});

describe.concurrent('Piscina: which thread runs a task', () => {
  // Rule: `freeThreads` is asked before every `run`, which posts before it returns.
  test('a thread is idle until `run` posts to it, and again once the task has ended', async (context) => {
    const { pool } = open(context);
    expect(pool.idleThreads).toBe(1);
    const task = pool.run(THREAD_ID, { signal: new AbortController().signal });
    expect(pool.idleThreads).toBe(0);
    await task;
    expect(pool.idleThreads).toBe(1);
  });

  test('`loadBalancer` chooses the thread by `id`, which is its threadId', async (context) => {
    let wanted = 0;
    const { pool } = open(context, {
      minThreads: 2,
      maxThreads: 2,
      loadBalancer: (_task, workers) => workers.find(({ id }) => id === wanted) ?? null,
    });
    const threadIds = pool.threads.map(({ threadId }) => threadId);
    expect(new Set(threadIds).size).toBe(2);
    for (wanted of [...threadIds, ...threadIds]) expect(await pool.run(THREAD_ID)).toBe(wanted);
  });

  test('`loadBalancer` sees the tasks of each thread as `currentUsage`, and one with a signal as Infinity', async (context) => {
    const seen: number[][] = [];
    const { pool } = open(context, {
      minThreads: 2,
      maxThreads: 2,
      loadBalancer: (_task, workers) => {
        seen.push(workers.map(({ currentUsage }) => currentUsage));
        return workers.find(({ currentUsage }) => currentUsage === 0) ?? null;
      },
    });
    const signal = new AbortController().signal;
    const held = [
      pool.run({ deed: 'never' }),
      pool.run({ deed: 'never' }, { signal }),
      pool.run(THREAD_ID),
    ].map(settlement);
    expect(seen).toEqual([
      [0, 0],
      [1, 0],
      [1, Infinity],
    ]);
    await pool.destroy();
    await Promise.all(held);
  });

  // Rule: a `loadBalancer` of ours always chooses a thread.
  test('a task that `loadBalancer` gives to nobody hangs with all behind it, though a thread is idle', async (context) => {
    const { pool, refuse } = openRefusing(context);
    await pool.run(THREAD_ID);
    const refused = settlement(refuse(() => pool.run(THREAD_ID)));
    const behind = settlement(pool.run(THREAD_ID));
    expect(pool.idleThreads).toBe(1);
    expect(await isPending(Promise.race([refused, behind]))).toBe(true);
  });

  test('one with a signal hangs until another task ends', async (context) => {
    const { pool, refuse } = openRefusing(context);
    await pool.run(THREAD_ID);
    const { signal } = new AbortController();
    const refused = settlement(refuse(() => pool.run(THREAD_ID, { signal })));
    expect(pool.idleThreads).toBe(1);
    expect(await isPending(refused)).toBe(true);
    await pool.run(THREAD_ID, { signal });
    expect((await refused).status).toBe('fulfilled');
  });
});

describe.concurrent('Piscina: its own queue', () => {
  // Rule: a bounded queue of our own in front, and never more tasks in Piscina than threads.
  test('maxQueue bounds tasks without a signal', async (context) => {
    const gate = sharedInteger();
    const { pool } = open(context, { maxQueue: 1 });
    const tasks = [{ deed: 'hold', gate }, THREAD_ID, THREAD_ID].map((task) => pool.run(task));
    const ends = tasks.map(settlement);
    expect(await ends[2]).toMatchObject({ reason: { message: 'Task queue is at limit' } });
    openGate(gate);
    expect(await ends[1]).toMatchObject({ status: 'fulfilled' });
  });

  test('maxQueue is ignored for tasks with a signal, and they run out of order', async (context) => {
    const gate = sharedInteger();
    const { pool } = open(context, { maxQueue: 1 });
    const signal = new AbortController().signal;
    const first = pool.run({ deed: 'hold', gate }, { signal });
    const order: unknown[] = [];
    const values = [1, 2, 3, 4, 5, 6];
    const tasks = values.map(async (value) => {
      order.push(await pool.run({ deed: 'echo', value }, { signal }));
    });
    openGate(gate);
    await Promise.all([first, ...tasks]);
    expect(order).not.toEqual(values);
    expect(order.toSorted()).toEqual(values);
  });

  // Rule: `minThreads = maxThreads`, at least 1.
  test('with minThreads 0 a worker that dies strands the queued tasks until the next `run`', async (context) => {
    const { pool } = open(context, { minThreads: 0 });
    const death = settlement(pool.run({ deed: 'exit' }));
    const stranded = settlement(pool.run(THREAD_ID));
    expect((await death).status).toBe('rejected');
    expect(await isPending(stranded)).toBe(true);
    expect(pool.threads).toEqual([]);
    await pool.run(THREAD_ID);
    expect((await stranded).status).toBe('fulfilled');
  });
});

describe.concurrent('Piscina: threads that die', () => {
  test('process.exit in a worker rejects its task, and another thread takes its place', async (context) => {
    const { pool } = open(context);
    const threadId = await pool.run(THREAD_ID);
    const reason = await reasonOf(pool.run({ deed: 'exit' }));
    expect(reason).toMatchObject({ name: 'Error', message: 'worker exited with code: 7' });
    expect(await pool.run(THREAD_ID)).not.toBe(threadId);
  });

  // Rule: always a heap limit; with none it took 15 s and 4 GB.
  test('out of memory rejects with ERR_WORKER_OUT_OF_MEMORY, and another thread takes its place', async (context) => {
    const { pool } = open(context, { resourceLimits: { maxOldGenerationSizeMb: 16 } });
    const threadId = await pool.run(THREAD_ID);
    const reason = await reasonOf(pool.run({ deed: 'outOfMemory' }));
    expect(reason).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
    expect(await pool.run(THREAD_ID)).not.toBe(threadId);
  });

  // Rule: every attempt has a deadline, kept by a signal of its own.
  test('a signal ends an endless loop with its reason, and another thread takes its place', async (context) => {
    const { pool } = open(context);
    const threadId = await pool.run(THREAD_ID);
    const controller = new AbortController();
    const looping = pool.run({ deed: 'loop' }, { signal: controller.signal });
    const end = settlement(looping);
    expect(await isPending(end)).toBe(true);
    controller.abort('late');
    expect(await end).toMatchObject({ reason: { name: 'AbortError', cause: 'late' } });
    expect(await pool.run(THREAD_ID)).not.toBe(threadId);
  });

  // Rule: the pool looks at its threads a moment after either event.
  test('`workerDestroy` comes before the thread has left the books', async (context) => {
    const { pool } = open(context);
    await pool.run(THREAD_ID);
    const counts: number[] = [];
    pool.once('workerDestroy', () => {
      counts.push(pool.threads.length);
      queueMicrotask(() => counts.push(pool.idleThreads));
    });
    await reasonOf(pool.run({ deed: 'exit' }));
    expect(counts).toEqual([1, 0]);
  });

  test('destroy rejects what runs and what waits', async (context) => {
    const { pool } = open(context);
    const ends = [{ deed: 'loop' }, THREAD_ID].map((task) => settlement(pool.run(task)));
    await pool.destroy();
    for (const end of ends)
      expect(await end).toMatchObject({ reason: { message: 'Terminating worker thread' } });
    expect(pool.threads).toEqual([]);
  });

  // Rule: a closed pool says so itself, and hands Piscina nothing more.
  test('a destroyed pool starts a thread for the next task', async (context) => {
    const { pool } = open(context);
    await pool.destroy();
    expect(await pool.run(THREAD_ID)).toEqual(expect.any(Number));
    expect(pool.threads).toHaveLength(1);
  });
});

describe.concurrent('Piscina: threads that do not load', () => {
  // Rule: the number of threads is watched, and a pool that stays short is replaced.
  test('one worker that dies at start-up ends respawning for good', async (context) => {
    const isBroken = sharedInteger();
    const { pool, strayErrors } = open(context, { workerData: { isBroken } });
    await pool.run(THREAD_ID);
    const died = once(pool, 'error');
    isBroken[0] = 1;
    await reasonOf(pool.run({ deed: 'exit' }));
    expect(await died).toMatchObject([{ message: 'this worker does not load' }]);
    expect(strayErrors).toHaveLength(1);
    expect(pool.threads).toEqual([]);
    isBroken[0] = 0;
    // A task on an empty pool still starts a thread, but when that one dies, none follows.
    await pool.run(THREAD_ID);
    await reasonOf(pool.run({ deed: 'exit' }));
    expect(pool.threads).toEqual([]);
  });

  // Rule: until a first answer has come, a failure may be one to load, and there is always a deadline.
  test('with a worker that does not load the first task rejects, and all later ones hang', async (context) => {
    const isBroken = sharedInteger();
    isBroken[0] = 1;
    const { pool } = open(context, { workerData: { isBroken } });
    const respawned = once(pool, 'error');
    const reason = await reasonOf(pool.run(THREAD_ID));
    expect(reason).toMatchObject({ message: 'this worker does not load' });
    await respawned;
    const attempted = once(pool, 'error');
    const later = settlement(pool.run(THREAD_ID));
    await attempted;
    expect(await isPending(later)).toBe(true);
  });
});

describe.concurrent('Piscina: what happens in a thread between tasks', () => {
  // Rule: always a listener, for this event without one ends the process. The worker's entry catches
  // such errors itself and leaves when its task has ended.
  test.for(['throw', 'reject'])(
    'an error of an idle worker (%s) is the `error` event of the pool and ends the thread',
    async (order, context) => {
      const opened = open(context);
      const { port, threadId } = await plantPort(opened, context);
      const stray = once(opened.pool, 'error');
      port.postMessage(order);
      expect(await stray).toMatchObject([{ message: 'nobody waits for this' }]);
      expect(await opened.pool.run(THREAD_ID)).not.toBe(threadId);
    },
  );

  // Rule: a task that failed with its thread is tried once more.
  test.for(['throw', 'reject'])(
    'an error that no task owns (%s) rejects the task that happens to run in the thread',
    async (order, context) => {
      const opened = open(context);
      const { port } = await plantPort(opened, context);
      const bystander = reasonOf(opened.pool.run({ deed: 'never' }));
      port.postMessage(order);
      expect(await bystander).toMatchObject({ message: 'nobody waits for this' });
      expect(opened.strayErrors).toEqual([]);
    },
  );

  // Rule: atomics are disabled. The default is `sync`.
  test('with atomics `sync` timers of an idle worker stand still', async (context) => {
    const { pool } = open(context, { atomics: 'sync' });
    const fired = settlement(once(pool, 'message'));
    await pool.run({ deed: 'nested', levels: 1 });
    expect(await isPending(fired)).toBe(true);
    expect(await pool.run(THREAD_ID)).toEqual(expect.any(Number));
    expect(await isPending(fired)).toBe(true);
  });

  test('with atomics `disabled` timers of an idle worker fire', async (context) => {
    const { pool } = open(context);
    const fired = once(pool, 'message');
    await pool.run({ deed: 'nested', levels: 1 });
    expect(await fired).toEqual(['replied']);
  });
});
