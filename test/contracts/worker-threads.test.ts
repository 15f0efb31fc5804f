// The behaviour of Node's threads on which the rules of src/main/offload rely. Describes the actual behaviour: a test that fails
// with another version of Node names the rule to reconsider. ctxfold is not used here.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { isPending, openThread, reasonOf, settlement } from './bare-thread.js';
import type { BareThread } from './bare-thread.js';

interface Task {
  readonly deed: string;
  readonly [argument: string]: unknown;
}

const THREAD_ID: Task = { deed: 'threadId' };

const open = (context: TestContext, heapMb?: number): BareThread<Task> =>
  openThread(context, 'contract-tasks.mjs', heapMb ? { maxOldGenerationSizeMb: heapMb } : {});

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

/** Transfers a port in a task that ends at once, and returns the other end. */
async function plantPort(
  { run }: BareThread<Task>,
  { onTestFinished }: TestContext,
): Promise<MessagePort> {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  await run({ deed: 'keepPort', port: port2 }, [port2]);
  return port1;
}

/**
 * Runs `process-end.mjs`. If nothing keeps its process alive, it ends at once, whatever `holdMs` is.
 *
 * @throws when it ends with another code than 0.
 */
function runProcess(scene: string, holdMs: number): Promise<{ readonly stdout: string }> {
  const program = fileURLToPath(new URL('process-end.mjs', import.meta.url));
  return promisify(execFile)(process.execPath, [program, scene, String(holdMs)]);
}

describe.concurrent('a thread: messages', () => {
  test('a message nested 1,000 levels arrives', async (context) => {
    const { run } = open(context);
    expect((await settlement(run({ deed: 'nested', levels: 1_000 }))).status).toBe('fulfilled');
  });

  // Rule: plans are flat, and the depth of ingested values is capped far below; an unreadable message fails its task. The limit is
  // some 1,900 levels on Node 20 and 1,700 on Node 24; from some 20,000 on, the thread ends with a RangeError.
  test('a message nested 5,000 levels is a `messageerror`, and the thread continues', async (context) => {
    const { worker, run } = open(context);
    const undelivered = once(worker, 'messageerror');
    void run({ deed: 'nested', levels: 5_000 });
    await undelivered;
    expect(await run(THREAD_ID)).toBe(worker.threadId);
  });

  test('a request nested too deep throws a RangeError and leaves the thread unharmed', async (context) => {
    const { run } = open(context);
    expect(() => run({ deed: 'echo', value: nested(20_000) })).toThrow(RangeError);
    expect(await run(THREAD_ID)).toEqual(expect.any(Number));
  });

  test('a request that cannot be cloned throws a DataCloneError and leaves the thread unharmed', async (context) => {
    const { run } = open(context);
    expect(() => run({ deed: 'echo', value: () => 0 })).toThrow(
      expect.objectContaining({ name: 'DataCloneError' }),
    );
    expect(await run(THREAD_ID)).toEqual(expect.any(Number));
  });

  // Rule: a session that lives in a thread has its own port.
  test('a port that was sent stays with its thread after the task has ended', async (context) => {
    const thread = open(context);
    const port = await plantPort(thread, context);
    const answer = once(port, 'message');
    port.postMessage('who');
    expect(await answer).toEqual([thread.worker.threadId]);
  });

  // Rule: a call on a connection has a deadline that allows for a task that keeps its thread busy.
  test('a port is not served while a task computes', async (context) => {
    const thread = open(context);
    const port = await plantPort(thread, context);
    const looping = settlement(thread.run({ deed: 'loop' }));
    const answer = once(port, 'message');
    port.postMessage('who');
    expect(await isPending(answer)).toBe(true);
    await thread.worker.terminate();
    expect((await looping).status).toBe('rejected');
  });

  test('an empty environment is empty in the thread', async (context) => {
    expect(await open(context).run({ deed: 'environment' })).toEqual([]);
  });
});

describe.concurrent('a thread: its end', () => {
  test('process.exit ends the thread with the code', async (context) => {
    const { run } = open(context);
    expect(await reasonOf(run({ deed: 'exit' }))).toMatchObject({ message: 'exit 7' });
  });

  // Rule: always set a heap limit; without one, this took 15 s and 4 GB.
  test('out of memory is an error with a code', async (context) => {
    const { run } = open(context, 16);
    await run(THREAD_ID);
    const reason = await reasonOf(run({ deed: 'outOfMemory' }));
    expect(reason).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });

  // Rule: every attempt has a deadline, at which its thread is terminated.
  test('the thread can be terminated in an endless loop', async (context) => {
    const { worker, run } = open(context);
    const looping = settlement(run({ deed: 'loop' }));
    expect(await isPending(looping)).toBe(true);
    await worker.terminate();
    expect((await looping).status).toBe('rejected');
  });

  // Rule: always listen, as an `error` event without a listener ends the process. The code of a thread catches such errors itself
  // and exits when its task has ended; a task that failed with its thread is retried once.
  test.for(['throw', 'reject'])(
    'an uncaught error (%s) ends the thread, with the task that is running',
    async (order, context) => {
      const thread = open(context);
      const port = await plantPort(thread, context);
      const bystander = reasonOf(thread.run({ deed: 'never' }));
      port.postMessage(order);
      expect(await bystander).toMatchObject({ message: 'nobody waits for this' });
    },
  );

  // Rule: each call on a connection races the `close` event of its port, because there is no answer. On an idle machine, `close`
  // fires about 1 ms after the thread has ended.
  test.for(['terminate', 'exit', 'outOfMemory'])(
    'after %s the ports of the thread close within a second, and ignore messages',
    async (deed, context) => {
      const thread = open(context, 16);
      const port = await plantPort(thread, context);
      const exited = new Promise((resolve) => thread.worker.on('exit', resolve));
      const closed = once(port, 'close');
      if (deed === 'terminate') void thread.worker.terminate();
      else void settlement(thread.run({ deed }));
      await exited;
      expect(await isPending(closed, 1_000)).toBe(false);
      expect(() => {
        port.postMessage('who');
      }).not.toThrow();
    },
  );
});

describe.concurrent('a thread: the end of the process', () => {
  // Rule: a port is unref'd after it has its listener, and ref'd while an answer is pending.
  test.for<[string, string, string]>([
    ['an idle thread that is unref’d does not keep the process alive', 'idleThread', 'ended'],
    ['a task keeps the process alive', 'endlessTask', 'held'],
    ['a port with a listener keeps the process alive', 'heardPort', 'held'],
    ['a listener refs a port that was unref’d', 'unrefBeforeHearing', 'held'],
    ['a port that was unref’d after that does not keep it alive', 'unrefAfterHearing', 'ended'],
  ])('%s', async ([, scene, outcome]) => {
    const { stdout } = await runProcess(scene, outcome === 'held' ? 1_000 : 20_000);
    expect(stdout.split('\n')[0]).toBe(outcome);
  });

  test('an error of an idle worker ends a process that does not listen to `error`', async () => {
    expect(await reasonOf(runProcess('strayError', 20_000))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('nobody waits for this'),
    });
  });
});
