// Shared by the contract tests: plain Node threads that end with their test, and bounded waits for events that never happen.
// ctxfold is not used here.

import { Worker } from 'node:worker_threads';
import type { ResourceLimits, Transferable } from 'node:worker_threads';
import type { TestContext } from 'vitest';

/** How long to wait for an event that never happens, after a sign that the thread is alive. */
const NEVER_MS = 300;

export interface BareThread<Task> {
  readonly worker: Worker;
  /** Runs a task in the thread, one at a time. Rejects when the thread ends instead of answering. */
  readonly run: (task: Task, transferList?: readonly Transferable[]) => Promise<unknown>;
}

/** A thread on a module of `test/support/workers`; it ends with the test. */
export function openThread<Task>(
  { onTestFinished }: TestContext,
  module: string,
  resourceLimits: ResourceLimits = {},
): BareThread<Task> {
  const urlOf = (name: string): URL => new URL(`../support/workers/${name}`, import.meta.url);
  const workerData = { module: urlOf(module).href };
  const worker = new Worker(urlOf('bare.mjs'), { workerData, resourceLimits, env: {} });
  // Without a listener, an error of the thread would end the process.
  worker.on('error', () => undefined);
  onTestFinished(async () => {
    await worker.terminate();
  });
  const run: BareThread<Task>['run'] = (task, transferList = []) => {
    const answer = new Promise<unknown>((resolve, reject) => {
      const onMessage = (message: { readonly reply?: unknown } | string): void => {
        if (typeof message === 'string') return;
        worker.off('message', onMessage);
        resolve(message.reply);
      };
      worker.on('message', onMessage);
      worker.once('error', reject);
      worker.once('exit', (code) => {
        reject(new Error(`exit ${code}`));
      });
    });
    answer.catch(() => undefined);
    worker.postMessage(task, transferList);
    return answer;
  };
  return { worker, run };
}

export type Settlement = PromiseSettledResult<unknown>;

/** The outcome of a promise as a value, which need not be awaited: it never becomes an unhandled rejection. */
export async function settlement(promise: Promise<unknown>): Promise<Settlement> {
  const [settled] = await Promise.allSettled([promise]);
  return settled;
}

/** The reason with which a promise rejects. @throws when it resolves. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await settlement(promise);
  if (settled.status === 'fulfilled') throw new Error(`resolved to ${String(settled.value)}`);
  return settled.reason;
}

/** Whether the promise is still pending after the time. */
export async function isPending(
  promise: Promise<unknown>,
  ms: number = NEVER_MS,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, true);
  });
  const isSettled = settlement(promise).then(() => false);
  const isLate = await Promise.race([isSettled, timeout]);
  clearTimeout(timer);
  return isLate;
}
