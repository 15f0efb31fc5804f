// A fixed number of worker threads, each of which runs one task at a time. The pool queues tasks and replaces the set.

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { MessagePort, Transferable } from 'node:worker_threads';
import { asError, isWireError, reviveError, WorkerPoolError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import { LOADED } from '../../shared/protocol.js';
import type { TaskRequest, ThreadData } from '../../shared/protocol.js';
import { Deadline, Deferred } from '../waiting/abortable.js';
import { diedError, timeoutError, toPoolError } from './pool-errors.js';

export interface ThreadSetOptions {
  /** The code of a thread as text, because a bundled package has no separate files to load. */
  readonly code: string;
  /** Data passed to the code. */
  readonly data: ThreadData;
  readonly threads: number;
  readonly maxHeapMb: number;
  /** Returns the number of sessions on a thread. */
  readonly residentsOn: (threadId: number) => number;
  /** Called, never synchronously, when a thread has loaded or ended. */
  readonly onChange: () => void;
  /** Called with an error of a thread that belongs to no task. */
  readonly onStrayError: (error: Error) => void;
  /** Called if a thread ended before its code was loaded; it is not replaced. */
  readonly onNotLoaded: (reason: unknown) => void;
}

/** A request for a thread. */
export interface ThreadTask {
  readonly request: TaskRequest;
  readonly timeoutMs: number;
  readonly transferList: readonly Transferable[];
}

const MAX_YOUNG_GENERATION_MB = 12;

/** Timeout for loading a thread's code, in milliseconds. Loading takes about 40 ms, and a second on a busy machine. */
const LOAD_LIMIT_MS = 10_000;

/** A thread, and the caller that waits for its answer. */
interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  waiting: Deferred<unknown> | undefined;
  /** Whether the thread's code has been loaded. */
  isLoaded: boolean;
  /** Whether the thread is ending and gets no more tasks. */
  isEnding: boolean;
  /** The error that ended the thread. */
  failure: unknown;
}

/**
 * Threads that run one task each. Why they are started as they are:
 *
 * - A heap limit: running out of memory takes 76 ms instead of 15 s and 4 GB.
 * - A small young generation, with semi-spaces of 4 MB: long-lived data is in columns, and a larger one of 16 MB (Node 20) adds 25 MB
 *   per thread without saving time. In a very large one (Node 24) the survivors can exceed the 16 MB that Node leaves a thread
 *   that runs out of memory, which ends the whole process (one death in about 75; none of 175 with 48 MB in all).
 * - An empty environment: dependencies in a worker see no secrets.
 * - A port for tasks and answers: messages that other code posts to the parent cannot be mistaken for them.
 * - Of the free threads, the one with the fewest sessions is chosen: a session stays on its thread.
 * - Idle threads are kept: one holds nothing but its loaded code, and starting one takes 40 ms.
 *
 * A thread that ends is replaced, unless its code was never loaded: then the pool decides whether to try again. `run` may only be
 * called while `freeThreads` is above 0.
 */
export class ThreadSet {
  readonly #options: ThreadSetOptions;
  readonly #threads: Set<Thread> = new Set();
  #running: number = 0;
  #hasLoaded: boolean = false;
  #onIdle: () => void = () => undefined;
  #destruction: Promise<void> | undefined;

  /** Starts the threads. @throws what `new Worker` throws if threads are forbidden, or an error if there are none. */
  constructor(options: ThreadSetOptions) {
    this.#options = options;
    try {
      for (let count = 0; count < options.threads; count += 1) this.#start();
    } catch (thrown) {
      // Nobody else could stop the threads that did start.
      void this.destroy();
      throw thrown;
    }
  }

  /** Threads that can take a task now. */
  get freeThreads(): number {
    return this.#idleThreads().length;
  }

  /** Whether any thread has ever loaded its code. */
  get hasLoaded(): boolean {
    return this.#hasLoaded;
  }

  /** Whether threads are missing: fewer are busy, free or starting than there should be. */
  get isShort(): boolean {
    const starting = [...this.#threads].filter(({ isLoaded, isEnding }) => !isLoaded && !isEnding);
    return this.#running + this.freeThreads + starting.length < this.#options.threads;
  }

  /**
   * Posts a request synchronously to a free thread, and resolves to its answer.
   *
   * @throws WorkerPoolError if there is no answer within `timeoutMs`; the thread is then stopped and replaced, the only way to
   *   end an infinite loop.
   */
  async run({ request, timeoutMs, transferList }: ThreadTask): Promise<unknown> {
    const thread = this.#leastOccupied();
    const answer = new Deferred<unknown>();
    thread.waiting = answer;
    const deadline = new Deadline(timeoutMs, () => {
      thread.waiting?.reject(timeoutError(timeoutMs));
      this.#stop(thread);
    });
    this.#running += 1;
    thread.worker.ref();
    try {
      thread.port.postMessage(request, transferList);
      return await answer.promise;
    } catch (thrown) {
      throw thrown instanceof WorkerPoolError ? thrown : toPoolError(thrown);
    } finally {
      thread.waiting = undefined;
      thread.worker.unref();
      deadline.cancel();
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle();
    }
  }

  /** Stops a thread immediately; another one is started. */
  stopThread(threadId: number): void {
    for (const thread of this.#threads) {
      if (thread.worker.threadId === threadId) this.#stop(thread);
    }
  }

  /** Stops the threads once running tasks have ended, of which each has a deadline. Resolves when the threads are gone. */
  async retire(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.destroy();
  }

  /** Stops all threads immediately; running tasks fail with `WORKER_DIED`. Resolves when they are gone. */
  destroy(): Promise<void> {
    const stopAll = async (): Promise<void> => {
      await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
    };
    this.#destruction ??= stopAll();
    return this.#destruction;
  }

  #idleThreads(): readonly Thread[] {
    return [...this.#threads].filter(
      ({ waiting, isLoaded, isEnding }) => isLoaded && !waiting && !isEnding,
    );
  }

  #leastOccupied(): Thread {
    const residents = ({ worker }: Thread): number => this.#options.residentsOn(worker.threadId);
    return this.#idleThreads().reduce((least, each) =>
      residents(each) < residents(least) ? each : least,
    );
  }

  #stop(thread: Thread): void {
    thread.isEnding = true;
    void thread.worker.terminate();
  }

  #start(): void {
    const { code, data, maxHeapMb, onStrayError } = this.#options;
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(code, {
      eval: true,
      name: 'ctxfold',
      env: {},
      execArgv: [],
      workerData: { ...data, port: port2 },
      transferList: [port2],
      resourceLimits: {
        maxOldGenerationSizeMb: maxHeapMb,
        maxYoungGenerationSizeMb: MAX_YOUNG_GENERATION_MB,
      },
    });
    // A stand-in for threads, as Cloudflare has, never starts and never ends.
    if (worker.threadId === 0)
      throw new Error("this runtime has no threads, so choose offload: 'inline'");
    const thread: Thread = {
      worker,
      port,
      waiting: undefined,
      isLoaded: false,
      isEnding: false,
      failure: undefined,
    };
    this.#threads.add(thread);
    const loading = setTimeout(() => {
      thread.failure = new Error(`its code did not load within ${LOAD_LIMIT_MS} ms`);
      this.#stop(thread);
    }, LOAD_LIMIT_MS).unref();
    const hear = (answer: unknown): void => {
      if (answer === LOADED) {
        clearTimeout(loading);
        // From now on, the thread keeps the process alive only while it runs a task.
        worker.unref();
        thread.isLoaded = true;
        this.#hasLoaded = true;
        this.#options.onChange();
        return;
      }
      const { thrown, reply } = asRecord(answer) ?? {};
      if (isWireError(thrown)) thread.waiting?.reject(reviveError(thrown));
      else thread.waiting?.resolve(reply);
    };
    // An answer cannot be deserialized, for example if it is nested thousands of levels deep.
    const fail = (cause: unknown): void => {
      thread.waiting?.reject(new Error('its answer could not be read', { cause }));
    };
    port.on('message', hear);
    port.on('messageerror', fail);
    worker.on('message', (message: unknown) => {
      onStrayError(strayErrorOf(message));
    });
    // Without a listener, an error of an idle thread would end the process.
    worker.on('error', (thrown: unknown) => {
      thread.isEnding = true;
      thread.failure = thrown;
      if (thread.waiting !== undefined) thread.waiting.reject(thrown);
      else if (thread.isLoaded) onStrayError(asError(thrown));
    });
    worker.on('exit', (exitCode) => {
      clearTimeout(loading);
      thread.isEnding = true;
      // If the calling thread was busy meanwhile, the last answer may still be unread.
      try {
        for (let last; (last = receiveMessageOnPort(port)) !== undefined;) hear(last.message);
      } catch (thrown) {
        fail(thrown);
      }
      this.#end(thread, exitCode);
    });
    port.unref();
  }

  #end(thread: Thread, exitCode: number): void {
    thread.port.close();
    thread.waiting?.reject(diedError(exitCode));
    this.#threads.delete(thread);
    if (this.#destruction !== undefined) return;
    const { onStrayError, onNotLoaded, onChange } = this.#options;
    try {
      if (thread.isLoaded) this.#start();
      else onNotLoaded(thread.failure ?? diedError(exitCode));
    } catch (thrown) {
      onStrayError(asError(thrown));
    }
    onChange();
  }
}

/** Returns the error that a thread reports. Other code on the thread may post anything, so this never throws on an odd message. */
function strayErrorOf(message: unknown): Error {
  const { strayError } = (message ?? {}) as { readonly strayError?: unknown };
  if (isWireError(strayError)) return reviveError(strayError);
  return new WorkerPoolError(
    `A worker sent a message that is none of ours, a ${typeof message}.`,
    'WORKER_FAILED',
  );
}
