// The options of a worker pool and their defaults. A compactor's options were validated before.

import { availableParallelism } from 'node:os';
import { withoutUndefined } from '../../shared/json.js';

/** Size and timeouts of a `WorkerPool`. Every option has a default. */
export interface WorkerPoolOptions {
  /** Worker threads. @default one less than the number of processors, at least 1, at most 2 */
  readonly threads?: number | undefined;
  /** Maximum number of waiting tasks; further ones are refused. A thousand sessions may open at once. @default 10_000 */
  readonly maxQueuedTasks?: number | undefined;
  /** Timeout of a task once a thread has it, in milliseconds. @default 5_000 */
  readonly taskTimeoutMs?: number | undefined;
  /** Time that `close` grants to running tasks, in milliseconds. @default 1_000 */
  readonly closeTimeoutMs?: number | undefined;
  /** Heap of one thread, in megabytes. @default 512 */
  readonly maxHeapMb?: number | undefined;
  /** Consecutive failures after which the pool refuses work. @default 5 */
  readonly failureThreshold?: number | undefined;
  /** How long it refuses work, in milliseconds. @default 30_000 */
  readonly coolDownMs?: number | undefined;
  /** How long threads may be missing before all are replaced, in milliseconds. @default 1_000 */
  readonly lossToleranceMs?: number | undefined;
  /** The current time in milliseconds, from any origin. @default performance.now */
  readonly now?: (() => number) | undefined;
  /** The module that handles the tasks of each thread. @default the package's own code */
  readonly workerUrl?: URL | undefined;
}

const DEFAULTS = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  maxQueuedTasks: 10_000,
  taskTimeoutMs: 5_000,
  closeTimeoutMs: 1_000,
  maxHeapMb: 512,
  failureThreshold: 5,
  coolDownMs: 30_000,
  lossToleranceMs: 1_000,
  now: (): number => performance.now(),
};

export type CompleteWorkerPoolOptions = Pick<WorkerPoolOptions, 'workerUrl'> & {
  readonly [Key in Exclude<keyof WorkerPoolOptions, 'workerUrl'>]-?: NonNullable<
    WorkerPoolOptions[Key]
  >;
};

/** Fills in the defaults. */
export function completeWorkerPoolOptions(options: WorkerPoolOptions): CompleteWorkerPoolOptions {
  return { ...DEFAULTS, ...withoutUndefined(options) };
}
