// The behaviour of Comlink 4, on a port into a thread, that our use of it relies on. Describes the actual
// behaviour: a test that fails after an upgrade names the rule to reconsider. ctxfold is not used here.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort, ResourceLimits, Worker } from 'node:worker_threads';
import { releaseProxy, transfer, wrap } from 'comlink';
import type { Remote } from 'comlink';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { isPending, openThread, reasonOf, settlement } from './bare-thread.js';
import type { BareThread, Settlement } from './bare-thread.js';

/** What the worker exposes; see `contract-ports.mjs`. */
interface Resident {
  threadId(): number;
  byteLength(array: Int32Array): number;
  append(value: unknown): number;
  appended(): unknown[];
  never(): Promise<never>;
  nested(levels: number): unknown;
  returnFunction(): unknown;
  throwTrouble(): never;
  takeColumns(): Int32Array;
  columnsLeft(): number;
  exit(): never;
  outOfMemory(): never;
}

/** Without a port, the answer is only the thread's id. */
interface Task {
  readonly port?: MessagePort;
  readonly isWaiting?: boolean;
  readonly isEndless?: boolean;
}

interface Connection {
  readonly thread: BareThread<Task>;
  /** The near end; the far end was transferred in a task that has ended. */
  readonly port: MessagePort;
  readonly resident: Remote<Resident>;
}

/**
 * Runs `process-end.mjs`. If nothing keeps its process alive, it ends at once, whatever `holdMs` is.
 *
 * @throws when it ends with another code than 0.
 */
function runProcess(scene: string, holdMs: number): Promise<{ readonly stdout: string }> {
  const program = fileURLToPath(new URL('process-end.mjs', import.meta.url));
  const parameters = ['--expose-gc', program, scene, String(holdMs)];
  return promisify(execFile)(process.execPath, parameters);
}

/** Unlike `once`, not disturbed by an error before the exit. */
function exitOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => worker.on('exit', () => resolve()));
}

async function connect(context: TestContext, resourceLimits?: ResourceLimits): Promise<Connection> {
  const thread = openThread<Task>(context, 'contract-ports.mjs', resourceLimits);
  const { port1, port2 } = new MessageChannel();
  context.onTestFinished(() => port1.close());
  await thread.run({ port: port2 }, [port2]);
  return { thread, port: port1, resident: wrap<Resident>(port1) };
}

describe.concurrent('Comlink: calls', () => {
  // No adapter is needed: a MessagePort of Node is an endpoint, since its listeners get `event.data`.
  test('a MessagePort is an endpoint, served by the thread that it was sent to', async (context) => {
    const { thread, resident } = await connect(context);
    expect(await resident.threadId()).toBe(await thread.run({}));
  });

  test('calls made without awaiting run in the order of the calls', async (context) => {
    const { resident } = await connect(context);
    const values = Array.from({ length: 50 }, (_, at) => at);
    await Promise.all(values.map((value) => resident.append(value)));
    expect(await resident.appended()).toEqual(values);
  });

  test('`transfer` moves a typed array out of the worker', async (context) => {
    const { resident } = await connect(context);
    expect(await resident.takeColumns()).toEqual(Int32Array.of(1, 2, 3));
    expect(await resident.columnsLeft()).toBe(0);
  });

  test('`transfer` moves a typed array into the worker', async (context) => {
    const { resident } = await connect(context);
    const array = Int32Array.of(1, 2, 3);
    const call = resident.byteLength(transfer(array, [array.buffer]));
    expect(array.byteLength).toBe(0);
    expect(await call).toBe(12);
  });
});

describe.concurrent('Comlink: failing calls', () => {
  // Rule: workers answer with data, `{ ok: false, error }`, and never by throwing.
  test('an error keeps its name and message, and loses its class, code and cause', async (context) => {
    const { resident } = await connect(context);
    const reason = await reasonOf(resident.throwTrouble());
    expect(reason).toMatchObject({ name: 'RangeError', message: 'trouble' });
    expect(reason).toBeInstanceOf(Error);
    expect(reason).not.toBeInstanceOf(RangeError);
    expect(reason).not.toHaveProperty('code');
    expect(reason).not.toHaveProperty('cause');
  });

  test('a result that cannot be cloned is a TypeError and leaves the thread unharmed', async (context) => {
    const { thread, resident } = await connect(context);
    const threadId = await resident.threadId();
    const reason = await reasonOf(resident.returnFunction());
    expect(reason).toMatchObject({ name: 'TypeError', message: 'Unserializable return value' });
    expect(await resident.threadId()).toBe(threadId);
    expect(await thread.run({})).toBe(threadId);
  });

  test('an argument that cannot be cloned rejects with a DataCloneError', async (context) => {
    const { resident } = await connect(context);
    const reason = await reasonOf(resident.append(() => 0));
    expect(reason).toMatchObject({ name: 'DataCloneError' });
    expect(await resident.appended()).toEqual([]);
  });

  // Rule: every call has a deadline. `messageerror` fires on the near end, and does not say which call.
  test('a call with a result nested 5,000 levels stays pending, and the next one is answered', async (context) => {
    const { port, resident } = await connect(context);
    const undelivered = once(port, 'messageerror');
    const deep = settlement(resident.nested(5_000));
    await undelivered;
    expect(await resident.threadId()).toEqual(expect.any(Number));
    expect(await isPending(deep)).toBe(true);
  });
});

describe.concurrent('Comlink: a thread that dies', () => {
  /** Each makes a call that gets no answer, and ends its thread. */
  const deaths: readonly [string, (connection: Connection) => Promise<Settlement>][] = [
    [
      'terminate',
      ({ thread, resident }) => {
        void thread.worker.terminate();
        return settlement(resident.never());
      },
    ],
    ['process.exit', ({ resident }) => settlement(resident.exit())],
    ['out of memory', ({ resident }) => settlement(resident.outOfMemory())],
  ];

  // Rule: each call races the `close` event of its port, and has a deadline as well. On an idle machine, `close`
  // fires about 1 ms after the thread has ended.
  test.for(deaths)(
    'after %s the port closes within a second, and the call stays pending',
    async ([, die], context) => {
      const connection = await connect(context, { maxOldGenerationSizeMb: 16 });
      const exited = exitOf(connection.thread.worker);
      const closed = once(connection.port, 'close');
      const call = die(connection);
      await exited;
      expect(await isPending(closed, 1_000)).toBe(false);
      expect(await isPending(call)).toBe(true);
    },
  );

  // Rule: state of the thread has to be opened again, in another thread with another port.
  test('a call on a port that has closed stays pending', async (context) => {
    const { thread, port, resident } = await connect(context);
    const closed = once(port, 'close');
    await thread.worker.terminate();
    await closed;
    expect(await isPending(settlement(resident.threadId()))).toBe(true);
  });

  test('terminating a busy thread closes its ports', async (context) => {
    const { thread, port } = await connect(context);
    const closed = once(port, 'close');
    const task = settlement(thread.run({ isEndless: true }));
    await thread.worker.terminate();
    expect((await task).status).toBe('rejected');
    await closed;
  });
});

describe.concurrent('Comlink: a port in an idle worker', () => {
  test('is served', async (context) => {
    const { resident } = await connect(context);
    expect(await resident.threadId()).toEqual(expect.any(Number));
  });

  test('is served while a task in that thread awaits something', async (context) => {
    const { thread, resident } = await connect(context);
    const task = settlement(thread.run({ isWaiting: true }));
    expect(await resident.threadId()).toEqual(expect.any(Number));
    await thread.worker.terminate();
    expect((await task).status).toBe('rejected');
  });

  // Rule: the deadline of a call allows for a task that may keep its thread busy.
  test('is not served while a task computes in that thread', async (context) => {
    const { thread, resident } = await connect(context);
    const computing = once(thread.worker, 'message');
    const task = settlement(thread.run({ isEndless: true }));
    await computing;
    expect(await isPending(settlement(resident.threadId()))).toBe(true);
    await thread.worker.terminate();
    expect((await task).status).toBe('rejected');
  });
});

describe.concurrent('Comlink: releasing a port', () => {
  // Rule: pending calls are counted, and a session releases its port when there are none.
  test('releaseProxy leaves pending calls pending, and later calls throw', async (context) => {
    const { thread, resident } = await connect(context);
    const call = settlement(resident.never());
    const answered = settlement(resident.threadId());
    resident[releaseProxy]();
    expect(() => resident.threadId()).toThrow('Proxy has been released and is not useable');
    expect(await thread.run({})).toEqual(expect.any(Number));
    expect(await isPending(Promise.race([call, answered]))).toBe(true);
  });

  test('releaseProxy closes both ends of the port and leaves the thread alive', async (context) => {
    const { thread, port, resident } = await connect(context);
    const threadId = await resident.threadId();
    const closed = once(port, 'close');
    resident[releaseProxy]();
    await closed;
    expect(await thread.run({})).toBe(threadId);
  });
});

describe.concurrent('Comlink: the end of the process', () => {
  // Rule: a port is unref’d after it was wrapped, and `close` is final. The garbage collector closes the port of
  // an unreachable proxy: the session has to hold its proxy as long as it lives.
  test.for<[string, string, string]>([
    ['an idle thread that is unref’d does not keep the process alive', 'idleThread', 'ended'],
    ['a task keeps the process alive', 'endlessTask', 'held'],
    ['a wrapped port keeps the process alive without any call', 'wrappedPort', 'held'],
    ['`wrap` refs a port that was unref’d', 'unrefBeforeWrap', 'held'],
    ['an unref’d port does not keep it alive, even with a call pending', 'unrefAfterWrap', 'ended'],
    ['a proxy that is garbage collected closes its port', 'collectedProxy', 'closed'],
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
