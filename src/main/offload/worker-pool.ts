// Runs tasks on worker threads so that every promise settles: bounded queue, deadline per task, pauses after failures, replacement of lost
// threads. The offloads fall back to the calling thread.

import type { Transferable } from 'node:worker_threads';
import { asError, CtxfoldError, WorkerPoolError } from '../../shared/errors.js';
import type { TaskRequest, TaskValue, ThreadData } from '../../shared/protocol.js';
import { loadTokenText } from '../../shared/tokens/o200k.js';
import { Deferred, settledWithin, whenAborted } from '../waiting/abortable.js';
import { FailurePauses } from './failure-pauses.js';
import {
  closedError,
  isRequestRefused,
  queueFullError,
  toPoolError,
  unavailableError,
} from './pool-errors.js';
import { readReply } from './reply.js';
import type { ReadReply } from './reply.js';
import type { ThreadSet, ThreadTask } from './thread-set.js';
import { completeWorkerPoolOptions } from './worker-pool-options.js';
import type { CompleteWorkerPoolOptions, WorkerPoolOptions } from './worker-pool-options.js';

/** Options of one task. */
export interface RunTaskOptions {
  /** Rejects the task with its reason as soon as it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the pool's `taskTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** What the request transfers to the thread instead of copying. */
  readonly transferList?: readonly Transferable[] | undefined;
  /** Of waiting tasks, one with the lowest rank runs next. @default 0, ahead of the parcels of histories that move in */
  readonly rank?: number | undefined;
}

/** The result of a task. */
export interface TaskOutcome<Request extends TaskRequest> extends ReadReply<TaskValue<Request>> {
  /** Milliseconds spent waiting for a free thread. */
  readonly queueMs: number;
}

/** A task that waits or runs, and the promise of its outcome. A thread may finish a task that nobody awaits. */
interface PoolJob extends ThreadTask {
  readonly outcome: Deferred<TaskOutcome<TaskRequest>>;
  readonly queuedAt: number;
  readonly rank: number;
}

/** The state and totals of a pool. */
export interface WorkerPoolStats {
  readonly runningTasks: number;
  readonly queuedTasks: number;
  /** How often all threads were replaced because some were lost or never started. */
  readonly replacements: number;
  /** Errors of threads that belonged to no task. */
  readonly strayErrors: number;
  /** Whether the pool refuses work because of consecutive failures. */
  readonly isBroken: boolean;
}

/** What threads are created with; loaded with the first task of any pool. */
interface ThreadParts {
  readonly ThreadSet: typeof ThreadSet;
  readonly code: string;
  readonly tokens: ThreadData['tokens'];
}

let parts: ThreadParts | undefined;

/** Loads the parts one after the other, with turns of the event loop in between: the tokens alone take 7 ms to load. */
async function loadParts(): Promise<ThreadParts> {
  const { ThreadSet } = await import('./thread-set.js');
  const { WORKER_CODE: code } = await import('./worker-code.js');
  const tokens = await loadTokenText().then(
    (text) => ({ text }),
    // The thread reports the failure if it has to count.
    (thrown: unknown) => ({ failure: asError(thrown).message }),
  );
  return { ThreadSet, code, tokens };
}

const NOT_STARTED = 'its threads did not start';
const TOO_MANY_FAILED = 'too many tasks failed in a row';
/** None after the first loss. */
const RESTART_PAUSES = { freeFailures: 1, firstPauseMs: 250, longestPauseMs: 30_000 };

/** How long `close` waits for threads to stop, in milliseconds. */
const STOP_TIMEOUT_MS = 2_000;

/**
 * A pool of worker threads. Threads start with the first task and, when idle, do not keep the process alive.
 *
 * A task waits in the pool's queue until a thread is free, then runs under a deadline. An abort rejects the caller at once, but a
 * running task continues and its result is dropped: stopping a healthy thread would cost 40 ms and its warmed-up code. Only the
 * deadline stops a task. Until then it keeps the process alive.
 *
 * Threads are watched: if some are missing for a second, or they fail to load, the whole set is replaced, with growing delays.
 * A thread that died while starting is not replaced individually.
 */
export class WorkerPool {
  readonly #options: CompleteWorkerPoolOptions;
  /** Of equal ranks in FIFO order: a set keeps insertion order, and any task may be removed. */
  readonly #queue: Set<PoolJob> = new Set();
  readonly #running: Set<PoolJob> = new Set();
  /** Number of sessions by thread. */
  readonly #residents = new Map<number, number>();
  readonly #tasks: FailurePauses;
  readonly #restarts: FailurePauses;
  /** Replaced sets that still run tasks. */
  readonly #retired: Set<ThreadSet> = new Set();
  #isLoading: boolean = false;
  #threads: ThreadSet | undefined;
  #lossTimer: NodeJS.Timeout | undefined;
  /** The latest failure, given as the cause when the pool refuses work. */
  #lastFailure: unknown;
  #replacements: number = 0;
  #strayErrors: number = 0;
  #closing: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions = {}) {
    this.#options = completeWorkerPoolOptions(options);
    const { failureThreshold, coolDownMs, now } = this.#options;
    this.#tasks = new FailurePauses({
      freeFailures: failureThreshold - 1,
      firstPauseMs: coolDownMs,
      now,
    });
    // A broken installation must not start a thread per task.
    this.#restarts = new FailurePauses({ ...RESTART_PAUSES, now });
  }

  /** The number of threads. */
  get threads(): number {
    return this.#options.threads;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  get stats(): WorkerPoolStats {
    return {
      runningTasks: this.#running.size,
      queuedTasks: this.#queue.size,
      replacements: this.#replacements,
      strayErrors: this.#strayErrors,
      isBroken: this.#tasks.isFailing,
    };
  }

  /**
   * Runs a task on a free thread. The request is posted when one is free, possibly later: it must not change until then.
   *
   * @throws the signal's reason; `WorkerPoolError` if the pool failed (`WORKER_TIMEOUT`, `WORKER_OUT_OF_MEMORY`, `WORKER_DIED`,
   *   `WORKER_FAILED`, `WORKER_INVALID_RESULT`) or refused (`POOL_QUEUE_FULL`, `POOL_UNAVAILABLE`, `CLOSED`); any other error
   *   is the task's own.
   */
  async run<Request extends TaskRequest>(
    request: Request,
    options: RunTaskOptions = {},
  ): Promise<TaskOutcome<Request>> {
    const { signal, transferList = [], timeoutMs = this.#options.taskTimeoutMs } = options;
    const { rank = 0 } = options;
    signal?.throwIfAborted();
    this.#assertAdmitted();
    const outcome = new Deferred<TaskOutcome<TaskRequest>>();
    const queuedAt = this.#options.now();
    const job: PoolJob = { request, timeoutMs, transferList, outcome, queuedAt, rank };
    const abort = (): void => {
      outcome.reject(signal?.reason);
      this.#queue.delete(job);
      this.#update();
    };
    const stopListening = signal && whenAborted(signal, abort);
    this.#queue.add(job);
    this.#update();
    // The reply was validated for this request.
    return outcome.promise.finally(stopListening) as Promise<TaskOutcome<Request>>;
  }

  /** Timeout of a task, in milliseconds; connections use it as well. */
  get taskTimeoutMs(): number {
    return this.#options.taskTimeoutMs;
  }

  /** Updates the number of sessions on a thread, by which the next session goes to the least occupied thread. */
  noteResident(threadId: number, change: 1 | -1): void {
    const residents = (this.#residents.get(threadId) ?? 0) + change;
    if (residents > 0) this.#residents.set(threadId, residents);
    else this.#residents.delete(threadId);
  }

  /** Stops a thread that no longer answers, with everything on it; another one is started. */
  stopThread(threadId: number): void {
    this.#threads?.stopThread(threadId);
    for (const threads of this.#retired) threads.stopThread(threadId);
  }

  /**
   * Closes the pool for good. Queued tasks are rejected with `CLOSED` at once, running ones after `closeTimeoutMs`; then all
   * threads are stopped. Further calls return the same promise, which never rejects.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  #assertAdmitted(): void {
    if (this.isClosed) throw closedError();
    const { maxQueuedTasks } = this.#options;
    if (this.#queue.size >= maxQueuedTasks) throw queueFullError(maxQueuedTasks);
    if (!this.#tasks.admits()) throw this.#refusal(TOO_MANY_FAILED);
  }

  /** Reacts to any change of state. Every event of the pool ends here. */
  #update(): void {
    if (this.isClosed) return;
    this.#dispatch();
    this.#watchThreads();
  }

  #dispatch(): void {
    while (this.#queue.size > 0) {
      const threads = this.#threads ?? this.#startThreads();
      if (threads === undefined) {
        if (!this.#isLoading) this.#refuseQueued(NOT_STARTED);
        return;
      }
      if (threads.freeThreads === 0) return;
      const job = [...this.#queue].reduce((first, each) => (each.rank < first.rank ? each : first));
      this.#queue.delete(job);
      void this.#execute(job, threads);
    }
  }

  async #execute(job: PoolJob, threads: ThreadSet): Promise<void> {
    this.#running.add(job);
    const queueMs = this.#options.now() - job.queuedAt;
    try {
      job.outcome.resolve({ ...readReply(job.request, await threads.run(job)), queueMs });
      this.#noteSuccess();
    } catch (thrown) {
      job.outcome.reject(thrown);
      // A task's own error proves that the thread works. A request that cannot be posted proves nothing.
      if (!(thrown instanceof WorkerPoolError)) this.#noteSuccess();
      else if (!isRequestRefused(thrown)) {
        this.#lastFailure = thrown;
        if (this.#tasks.noteFailure()) this.#refuseQueued(TOO_MANY_FAILED);
      }
    }
    this.#running.delete(job);
    this.#update();
  }

  #noteSuccess(): void {
    this.#restarts.noteSuccess();
    this.#tasks.noteSuccess();
  }

  /** Gives up the threads if none has ever loaded, because none will. Otherwise the loss timer notices the missing thread. */
  #noteNotLoaded(reason: unknown, threads: ThreadSet): void {
    this.#lastFailure = toPoolError(reason);
    if (threads.hasLoaded) return;
    this.#giveUp(threads);
    this.#refuseQueued(NOT_STARTED);
  }

  #startThreads(): ThreadSet | undefined {
    if (this.#isLoading || this.#restarts.isPausing) return undefined;
    if (parts === undefined) {
      void this.#load();
      return undefined;
    }
    try {
      const threads: ThreadSet = new parts.ThreadSet({
        code: parts.code,
        data: { tokens: parts.tokens, module: this.#options.workerUrl?.href },
        threads: this.#options.threads,
        maxHeapMb: this.#options.maxHeapMb,
        residentsOn: (threadId) => this.#residents.get(threadId) ?? 0,
        onChange: () => {
          this.#update();
        },
        onStrayError: (error) => {
          this.#strayErrors += 1;
          this.#lastFailure = error instanceof CtxfoldError ? error : toPoolError(error);
        },
        onNotLoaded: (reason) => {
          this.#noteNotLoaded(reason, threads);
        },
      });
      this.#threads = threads;
    } catch (thrown) {
      // Thrown if threads are forbidden (Node's permission model).
      this.#noteStartFailure(thrown);
    }
    return this.#threads;
  }

  /** Loads what threads are created with, on first use. */
  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      parts = await loadParts();
    } catch (thrown) {
      this.#noteStartFailure(thrown);
      this.#refuseQueued(NOT_STARTED);
    } finally {
      this.#isLoading = false;
    }
    this.#update();
  }

  #noteStartFailure(thrown: unknown): void {
    this.#lastFailure = toPoolError(thrown);
    this.#restarts.noteFailure();
  }

  /** Gives up a set of threads; the next task starts another one once no pause forbids it. */
  #giveUp(threads: ThreadSet): void {
    if (this.#threads !== threads) return;
    this.#threads = undefined;
    this.#replacements += 1;
    this.#restarts.noteFailure();
    this.#retired.add(threads);
    void threads.retire().then(() => this.#retired.delete(threads));
  }

  /**
   * Starts the loss timer while threads are missing, and stops it once they are back. A thread that died is normally replaced in
   * time; if it is not, or if a stopped thread does not end, the timer fires and the set is given up. While tasks wait, the timer
   * keeps the process alive, which the threads do not.
   */
  #watchThreads(): void {
    const threads = this.#threads;
    if (threads === undefined || !threads.isShort) {
      clearTimeout(this.#lossTimer);
      this.#lossTimer = undefined;
      return;
    }
    this.#lossTimer ??= setTimeout(() => {
      this.#lossTimer = undefined;
      if (threads.isShort) this.#giveUp(threads);
      this.#update();
    }, this.#options.lossToleranceMs);
    if (this.#queue.size > 0) this.#lossTimer.ref();
    else this.#lossTimer.unref();
  }

  #refuseQueued(reason: string): void {
    for (const job of this.#queue) job.outcome.reject(this.#refusal(reason));
    this.#queue.clear();
  }

  #refusal(reason: string): WorkerPoolError {
    return unavailableError(reason, this.#lastFailure);
  }

  async #shutDown(): Promise<void> {
    clearTimeout(this.#lossTimer);
    for (const job of this.#queue) job.outcome.reject(closedError());
    this.#queue.clear();
    const awaited = Array.from(this.#running, ({ outcome }) => outcome.promise);
    await settledWithin(this.#options.closeTimeoutMs, Promise.allSettled(awaited));
    for (const job of this.#running) job.outcome.reject(closedError());
    const sets = this.#threads === undefined ? [] : [this.#threads];
    const stopped = Promise.allSettled([...sets, ...this.#retired].map((set) => set.destroy()));
    // Stopping a thread takes milliseconds; if that ever fails, `close` still ends. Idle threads do not keep the process alive, and a
    // module that awaits the closing at its top level must not end before it.
    await settledWithin(STOP_TIMEOUT_MS, stopped, true);
  }
}
