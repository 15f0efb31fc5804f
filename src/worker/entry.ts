// The worker thread's entry: hands each request of the pool to `runTask`. The one file that touches
// node:worker_threads; what it must not do is anything that could be tested off a thread.

import { parentPort, threadId } from 'node:worker_threads';
import { toWireError } from '../shared/errors.js';
import type { TaskReply, TaskRequest } from '../shared/protocol.js';
import { runTask } from './tasks.js';

/** Long enough for a reply to be read: one that arrives together with the exit is lost. */
const LEAVE_AFTER_MS = 20;

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
process.on('uncaughtException', onStrayError);
process.on('unhandledRejection', onStrayError);

/** What the pool calls, once per task. Never rejects. */
export default async function runOnThread(request: TaskRequest): Promise<TaskReply<TaskRequest>> {
  runningTasks += 1;
  try {
    return await runTask(request, threadId);
  } finally {
    runningTasks -= 1;
    departure?.refresh();
  }
}
