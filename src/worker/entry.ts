// The entry point of worker threads: passes each request from its port to `runTask`. The only file here that uses
// node:worker_threads; everything that can be tested without a thread belongs elsewhere.

import { parentPort, threadId, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { toWireError } from '../shared/errors.js';
import { LOADED } from '../shared/protocol.js';
import type { TaskReply, TaskRequest, ThreadData } from '../shared/protocol.js';
import { runTask } from './tasks.js';

type Run = (request: TaskRequest) => Promise<TaskReply<TaskRequest>>;

/** Delay before an exit. Answers on resident connections that arrive together with the exit are lost, so the other side must read them first. */
const EXIT_DELAY_MS = 20;

const { port, module } = workerData as ThreadData & { readonly port: MessagePort };
let runningTasks = 0;
let exitTimer: NodeJS.Timeout | undefined;

// By default, an error outside of any task (a floating rejection, a reply that cannot be cloned) would end the thread together
// with an unrelated task. Instead, report the error, let running tasks finish, then exit, so that the pool starts a new thread.
// An idle thread exits soon, too. That also fails the caller whose reply could not be cloned: it would wait forever otherwise.
function onStrayError(error: unknown): void {
  parentPort?.postMessage({ strayError: toWireError(error) });
  exitTimer ??= setInterval(() => {
    if (runningTasks === 0) process.exit(1);
  }, EXIT_DELAY_MS);
}

async function answer(run: Run, request: TaskRequest): Promise<void> {
  runningTasks += 1;
  const reply = await run(request).then(
    (value) => ({ reply: value }),
    (thrown: unknown) => ({ thrown: toWireError(thrown) }),
  );
  runningTasks -= 1;
  exitTimer?.refresh();
  port.postMessage(reply);
}

const runOwnTask: Run = (request) => runTask(request, threadId);

/** Loads the function that runs tasks: the default export of the configured module, or `runTask`. */
async function load(): Promise<Run> {
  if (module === undefined) return runOwnTask;
  const { default: run } = (await import(module)) as {
    readonly default: (...args: [TaskRequest, Run]) => ReturnType<Run>;
  };
  return async (request) => run(request, runOwnTask);
}

// A failure to load ends the thread with its error.
void load().then((run) => {
  process.on('uncaughtException', onStrayError);
  process.on('unhandledRejection', onStrayError);
  port.on('message', (request: TaskRequest) => void answer(run, request));
  port.postMessage(LOADED);
});
