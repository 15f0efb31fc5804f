// The code of a worker thread: hands each request that comes to its port to `runTask`. The one file that touches
// node:worker_threads; what it must not do is anything that could be tested off a thread.

import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { toWireError } from '../shared/errors.js';
import { LOADED } from '../shared/protocol.js';
import type { TaskReply, TaskRequest, ThreadData } from '../shared/protocol.js';
import { runTask } from './tasks.js';

type Run = (request: TaskRequest) => Promise<TaskReply<TaskRequest>>;

/** Long enough for a reply to be read: one that arrives together with the exit is lost. */
const LEAVE_AFTER_MS = 20;

const { port, module } = workerData as ThreadData & { readonly port: MessagePort };
let runningTasks = 0;
let departure: NodeJS.Timeout | undefined;

// An error that no task owns (a floating rejection, a reply that cannot be cloned) would by default
// end the thread and with it a task that has nothing to do with it. So: report it, let the task that
// runs finish, then leave, and the pool starts a fresh thread. A thread without a task leaves soon
// too, which also frees a caller whose reply could not be cloned: it would never come.
function onStrayError(error: unknown): void {
  parentPort?.postMessage({ strayError: toWireError(error) });
  departure ??= setInterval(() => {
    if (runningTasks === 0) process.exit(1);
  }, LEAVE_AFTER_MS);
}

async function answer(run: Run, request: TaskRequest): Promise<void> {
  runningTasks += 1;
  const reply = await run(request).then(
    (value) => ({ reply: value }),
    (thrown: unknown) => ({ thrown: toWireError(thrown) }),
  );
  runningTasks -= 1;
  departure?.refresh();
  port.postMessage(reply);
}

const ownRun: Run = (request) => runTask(request, threadId);

/** What the thread answers by. */
async function load(): Promise<Run> {
  if (module === undefined) return ownRun;
  const { default: run } = (await import(module)) as {
    readonly default: (...args: [TaskRequest, Run]) => ReturnType<Run>;
  };
  return async (request) => run(request, ownRun);
}

// What fails to load ends the thread, with its error.
void load().then((run) => {
  process.on('uncaughtException', onStrayError);
  process.on('unhandledRejection', onStrayError);
  port.on('message', (request: TaskRequest) => void answer(run, request));
  port.postMessage(LOADED);
});
