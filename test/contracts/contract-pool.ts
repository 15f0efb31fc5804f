// What the contract tests share: pools with the options that ctxfold uses, which vanish with their test,
// and bounded waits for what never comes. Nothing of ctxfold is used here.

import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { TestContext } from 'vitest';

/** How long something that never happens is waited for, after a sign that the threads are alive. */
const NEVER_MS = 300;

/** For the few cases in which versions of Node differ. */
export const NODE_MAJOR: number = Number(process.versions.node.split('.')[0]);

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

export interface ContractPool<Task> {
  readonly pool: Piscina<Task, unknown>;
  /** What the pool's `error` event brought. */
  readonly strayErrors: unknown[];
}

/** A pool of one thread, or as `options` say, on a worker of `test/support/workers`; it ends with the test. */
export function openPool<Task>(
  { onTestFinished }: TestContext,
  worker: string,
  options: PiscinaOptions = {},
): ContractPool<Task> {
  const pool = new Piscina<Task, unknown>({
    filename: fileURLToPath(new URL(`../support/workers/${worker}`, import.meta.url)),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Infinity,
    atomics: 'disabled',
    recordTiming: false,
    ...options,
  });
  const strayErrors: unknown[] = [];
  pool.on('error', (error: unknown) => strayErrors.push(error));
  onTestFinished(() => pool.destroy());
  return { pool, strayErrors };
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
