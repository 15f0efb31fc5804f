// One task on its way through the pool: its request, its caller's promise, its caller's signal.

import type { Transferable } from 'node:worker_threads';
import type { TaskRequest, TaskValue } from '../../shared/protocol.js';
import { whenAborted } from '../waiting/abortable.js';
import type { WorkPermit } from './circuit-breaker.js';
import { readReply } from './reply.js';
import type { ReadReply } from './reply.js';

/** What a task came to. */
export interface TaskOutcome<Request extends TaskRequest> extends ReadReply<TaskValue<Request>> {
  /** Milliseconds that it waited for a free thread. */
  readonly queueMs: number;
}

/** What the pool needs to know of a job, whatever its kind. */
export interface Job {
  readonly request: TaskRequest;
  /** What of the request moves to the thread instead of being copied. */
  readonly transferList: readonly Transferable[];
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  /** Whether the caller still waits: neither answered nor gone. */
  readonly isAwaited: boolean;
  /** Notes that a thread has it now. */
  begin(): void;
  /** Settles the caller's promise with a reply. @throws what `readReply` throws, which settles nothing. */
  accept(reply: unknown): void;
  /** Rejects the caller's promise unless it is settled. */
  reject(reason: unknown): void;
}

export interface PoolJobOptions {
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  readonly transferList?: readonly Transferable[] | undefined;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  /** Called after the signal has aborted and the promise was rejected. */
  readonly onAbort: (job: Job) => void;
}

/**
 * A job whose promise settles exactly once: by a reply, a failure or the signal's abort, whichever
 * comes first. What comes later is dropped, so that a thread may go on with a task nobody awaits.
 */
export class PoolJob<Request extends TaskRequest> implements Job {
  readonly request: Request;
  readonly transferList: readonly Transferable[];
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  readonly promise: Promise<TaskOutcome<Request>>;
  readonly #now: () => number;
  readonly #queuedAt: number;
  #startedAt: number;
  #isAwaited: boolean = true;
  readonly #stopListening: () => void;
  #resolvePromise!: (outcome: TaskOutcome<Request>) => void;
  #rejectPromise!: (reason: unknown) => void;

  constructor(request: Request, options: PoolJobOptions) {
    const { signal, onAbort } = options;
    this.request = request;
    this.transferList = options.transferList ?? [];
    this.timeoutMs = options.timeoutMs;
    this.permit = options.permit;
    this.#now = options.now;
    this.#queuedAt = this.#now();
    this.#startedAt = this.#queuedAt;
    this.promise = new Promise((resolve, reject) => {
      this.#resolvePromise = resolve;
      this.#rejectPromise = reject;
    });
    const abort = (): void => {
      this.reject(signal?.reason);
      onAbort(this);
    };
    this.#stopListening = signal === undefined ? () => undefined : whenAborted(signal, abort);
  }

  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  begin(): void {
    this.#startedAt = this.#now();
  }

  accept(reply: unknown): void {
    const { value, runMs } = readReply(this.request, reply);
    if (!this.#settle()) return;
    this.#resolvePromise({ value, runMs, queueMs: this.#startedAt - this.#queuedAt });
  }

  reject(reason: unknown): void {
    if (this.#settle()) this.#rejectPromise(reason);
  }

  /** Returns whether this call is the one that settles. A signal that lives longer must not hold the job. */
  #settle(): boolean {
    if (!this.#isAwaited) return false;
    this.#isAwaited = false;
    this.#stopListening();
    return true;
  }
}
