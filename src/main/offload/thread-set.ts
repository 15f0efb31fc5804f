// A fixed number of worker threads: Piscina, used within the bounds in which it was measured to be
// reliable. Queueing, retrying and replacing threads for good are the pool's, not done here.

import { fileURLToPath } from 'node:url';
import type { Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { asError, isWireError, reviveError, WorkerPoolError } from '../../shared/errors.js';
import type { TaskRequest } from '../../shared/protocol.js';
import { Deadline } from './deadline.js';
import { timeoutError, toPoolError } from './pool-errors.js';

export interface ThreadSetOptions {
  readonly workerUrl: URL;
  readonly threads: number;
  readonly maxHeapMb: number;
  /** How many sessions live on a thread. */
  readonly residentsOn: (threadId: number) => number;
  /** Called, never synchronously, when a thread came or went. */
  readonly onChange: () => void;
  /** Called with an error of a thread that no task owns. */
  readonly onStrayError: (error: Error) => void;
}

/** A request on its way to a thread. */
export interface ThreadTask {
  readonly request: TaskRequest;
  readonly timeoutMs: number;
  readonly transferList: readonly Transferable[];
}

const NO_REQUIRE_FLAG = '--no-experimental-require-module';

/** Options of Node for threads: a Node that does not know the flag would start none. */
const NO_REQUIRE_OF_MODULES = process.allowedNodeEnvironmentFlags.has(NO_REQUIRE_FLAG)
  ? [NO_REQUIRE_FLAG]
  : [];

const MAX_YOUNG_GENERATION_MB = 12;

/**
 * Threads that run one task each. Why the options are as they are, measured on Piscina 5.3.2:
 *
 * - As many threads at least as at most: with none at least, tasks are stranded when a worker dies.
 * - Without atomics: otherwise timers and ports of an idle worker stand still, and nothing is faster.
 * - A heap limit: out of memory takes 76 ms instead of 15 s and 4 GB.
 * - A small young generation, of 4 MB at a time: what lives long here is in columns, and a larger one of 16 MB (Node 20) adds
 *   25 MB a thread and spares no time. What survives in a very large one (Node 24) can be more than the 16 MB that Node leaves
 *   a thread which runs out of memory, and the whole process ends then (one death in some 75; with 48 MB in all none of 175).
 * - An empty environment: whatever a dependency does in a worker, it sees no secrets.
 * - Of free threads the one on which the fewest sessions live: what comes stays there.
 * - Never idle out: a thread holds nothing but its loaded code, and starting one takes 40 ms.
 * - No `require` of ES modules, which Piscina tries first: a thread that is stopped in the middle of
 *   that ends the whole process (Node 20, "Module::IsGraphAsync must be used on an instantiated module").
 *
 * `run` must be called only while `freeThreads` is above 0. Piscina's own queue stays empty then, and
 * with it everything that loses order, ignores bounds or hangs there.
 */
export class ThreadSet {
  readonly #threads: number;
  readonly #piscina: Piscina<TaskRequest, unknown>;
  #running: number = 0;
  #hasAnswered: boolean = false;
  #onIdle: () => void = () => undefined;
  #destruction: Promise<void> | undefined;

  /** Starts the threads. @throws what `new Worker` throws where threads are forbidden. */
  constructor(options: ThreadSetOptions) {
    this.#threads = options.threads;
    this.#piscina = new Piscina<TaskRequest, unknown>({
      filename: fileURLToPath(options.workerUrl),
      minThreads: options.threads,
      maxThreads: options.threads,
      idleTimeout: Infinity,
      atomics: 'disabled',
      env: {},
      execArgv: [...NO_REQUIRE_OF_MODULES],
      resourceLimits: {
        maxOldGenerationSizeMb: options.maxHeapMb,
        maxYoungGenerationSizeMb: MAX_YOUNG_GENERATION_MB,
      },
      recordTiming: false,
      loadBalancer: (_task, workers) => {
        const free = workers.filter(({ currentUsage }) => currentUsage === 0);
        const residents = free.map(({ id }) => options.residentsOn(id));
        return free[residents.indexOf(Math.min(...residents))] ?? null;
      },
    });
    // Piscina announces a coming or going thread before its own books show it: look a moment later.
    const announce = (): void => {
      queueMicrotask(options.onChange);
    };
    this.#piscina.on('workerCreate', announce);
    this.#piscina.on('workerDestroy', announce);
    // Without a listener, an error of an idle thread would end the process. This one stays for good.
    this.#piscina.on('error', (thrown: unknown) => {
      options.onStrayError(asError(thrown));
      announce();
    });
    this.#piscina.on('message', (message: unknown) => {
      options.onStrayError(strayErrorOf(message));
    });
  }

  /** Threads that can take a task now. */
  get freeThreads(): number {
    return this.#piscina.idleThreads;
  }

  /** Tasks that run. */
  get running(): number {
    return this.#running;
  }

  /** Whether any thread has ever answered: until then, a failure may be one to load. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether fewer threads work or could work than there should be: some died or have not started. */
  get isShort(): boolean {
    return this.#running + this.#piscina.idleThreads < this.#threads;
  }

  /**
   * Posts a request, synchronously, to a free thread and resolves to whatever it answers.
   *
   * @throws WorkerPoolError when no answer comes within `timeoutMs`, counted from now; the thread is
   * stopped then and another one started, for nothing else ends a loop.
   */
  async run({ request, timeoutMs, transferList }: ThreadTask): Promise<unknown> {
    const controller = new AbortController();
    const deadline = new Deadline(timeoutMs, () => {
      controller.abort();
    });
    this.#running += 1;
    try {
      const { signal } = controller;
      const reply = await this.#piscina.run(request, { signal, transferList: [...transferList] });
      this.#hasAnswered = true;
      return reply;
    } catch (thrown) {
      throw controller.signal.aborted ? timeoutError(timeoutMs) : toPoolError(thrown);
    } finally {
      deadline.cancel();
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle();
    }
  }

  /** Stops one thread now, whatever it does; Piscina starts another one. */
  stopThread(threadId: number): void {
    const thread = this.#piscina.threads.find((worker) => worker.threadId === threadId);
    void thread?.terminate();
  }

  /** Stops the threads as soon as the tasks that run have ended; each has a deadline. Resolves when they are gone. */
  async retire(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.destroy();
  }

  /** Stops all threads now; tasks that run fail with `WORKER_DIED`. Resolves when they are gone. */
  destroy(): Promise<void> {
    this.#destruction ??= this.#piscina.destroy();
    return this.#destruction;
  }
}

/** The error that a thread reports. Any code on it can post anything else: that is told, and never thrown in here. */
function strayErrorOf(message: unknown): Error {
  const { strayError } = (message ?? {}) as { readonly strayError?: unknown };
  if (isWireError(strayError)) return reviveError(strayError);
  return new WorkerPoolError(
    `A worker sent a message that is none of ours, a ${typeof message}.`,
    'WORKER_FAILED',
  );
}
