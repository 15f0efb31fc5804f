// What the contract tests share: threads as Node starts them, which vanish with their test, and bounded waits for what never comes.
// Nothing of ctxfold is used here.

import { Worker } from 'node:worker_threads';
import type { ResourceLimits, Transferable } from 'node:worker_threads';
import type { TestContext } from 'vitest';

/** How long something that never happens is waited for, after a sign that the thread is alive. */
const NEVER_MS = 300;

export interface BareThread<Task> {
  readonly worker: Worker;
  /** Has the thread do a task, one at a time. Rejects when the thread ends instead of answering. */
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

/** How a promise ends, as a value: it may be left alone without becoming an unhandled rejection. */
export async function settlement(promise: Promise<unknown>): Promise<Settlement> {
  const [settled] = await Promise.allSettled([promise]);
  return settled;
}

/** What a promise rejects with. @throws when it resolves. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await settlement(promise);
  if (settled.status === 'fulfilled') throw new Error(`resolved to ${String(settled.value)}`);
  return settled.reason;
}

/** Whether nothing becomes of the promise in time. */
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
