// The options of a worker pool, their defaults and validation.

import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { parseOptions } from '../host/parse-options.js';
import { MAX_TIMER_MS } from '../waiting/abortable.js';

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
}

/** The options with all defaults filled in. */
export type CompleteWorkerPoolOptions = {
  readonly [Key in keyof WorkerPoolOptions]-?: Exclude<WorkerPoolOptions[Key], undefined>;
};

const milliseconds = z.number().int().positive().max(MAX_TIMER_MS);

const schema = z.strictObject({
  threads: z
    .int()
    .min(1)
    .max(64)
    .default(() => Math.min(2, Math.max(1, availableParallelism() - 1))),
  maxQueuedTasks: z.int().min(1).max(100_000).default(10_000),
  taskTimeoutMs: milliseconds.default(5_000),
  closeTimeoutMs: milliseconds.default(1_000),
  maxHeapMb: z.int().min(8).max(65_536).default(512),
  failureThreshold: z.int().min(1).default(5),
  coolDownMs: milliseconds.default(30_000),
});

/** Validates the options and fills in the defaults. @throws RangeError that names each invalid option. */
export function completeWorkerPoolOptions(options: WorkerPoolOptions): CompleteWorkerPoolOptions {
  return parseOptions('worker pool options', schema, options);
}
