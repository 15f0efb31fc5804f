// The options of a worker pool and their defaults. A compactor's options were validated before.

import { availableParallelism } from 'node:os';
import { withoutUndefined } from '../../shared/json.js';

const THREADS = Math.min(2, Math.max(1, availableParallelism() - 1));

const DEFAULTS = {
  /** Maximum number of waiting tasks; further ones are refused. A thousand sessions may open at once. */
  maxQueuedTasks: 10_000,
  /** Timeout of a task once a thread has it, in milliseconds. */
  taskTimeoutMs: 5_000,
  /** Time that `close` grants to running tasks, in milliseconds. */
  closeTimeoutMs: 1_000,
  /** Heap of one thread, in megabytes. */
  maxHeapMb: 512,
  /** Consecutive failures after which the pool refuses work. */
  failureThreshold: 5,
  /** How long it refuses work, in milliseconds. */
  coolDownMs: 30_000,
  /** How long threads may be missing before all are replaced, in milliseconds. */
  lossToleranceMs: 1_000,
  /** The current time in milliseconds, from any origin. */
  now: (): number => performance.now(),
};

export interface CompleteWorkerPoolOptions extends Readonly<typeof DEFAULTS> {
  /** Worker threads. @default one less than the number of processors, at least 1, at most 2 */
  readonly threads: number;
  /** The module that handles the tasks of each thread. @default the package's own code */
  readonly workerUrl?: URL | undefined;
}

/** Size and timeouts of a `WorkerPool`. Every option has a default. */
export type WorkerPoolOptions = {
  readonly [Key in keyof CompleteWorkerPoolOptions]?: CompleteWorkerPoolOptions[Key] | undefined;
};

/** Fills in the defaults. */
export function completeWorkerPoolOptions(options: WorkerPoolOptions): CompleteWorkerPoolOptions {
  return { threads: THREADS, ...DEFAULTS, ...withoutUndefined(options) };
}
