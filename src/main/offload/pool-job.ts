// One task in the pool: its request, its caller's promise and signal.

import type { Transferable } from 'node:worker_threads';
import type { TaskRequest, TaskValue } from '../../shared/protocol.js';
import { whenAborted } from '../waiting/abortable.js';
import type { WorkPermit } from './circuit-breaker.js';
import { readReply } from './reply.js';
import type { ReadReply } from './reply.js';

/** The result of a task. */
export interface TaskOutcome<Request extends TaskRequest> extends ReadReply<TaskValue<Request>> {
  /** Milliseconds spent waiting for a free thread. */
  readonly queueMs: number;
}

export interface PoolJobOptions {
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  readonly transferList?: readonly Transferable[] | undefined;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  /** Called after an abort has rejected the promise. */
  readonly onAbort: (job: PoolJob) => void;
}

/**
 * A job whose promise settles exactly once: by a reply, a failure or an abort, whichever comes first. Later outcomes are
 * dropped, so that a thread may finish a task that nobody awaits.
 */
export class PoolJob {
  readonly request: TaskRequest;
  /** What the request transfers to the thread instead of copying. */
  readonly transferList: readonly Transferable[];
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  readonly promise: Promise<TaskOutcome<TaskRequest>>;
  readonly #now: () => number;
  readonly #queuedAt: number;
  #startedAt: number;
  #isAwaited: boolean = true;
  readonly #stopListening: () => void;
  #resolvePromise!: (outcome: TaskOutcome<TaskRequest>) => void;
  #rejectPromise!: (reason: unknown) => void;

  constructor(request: TaskRequest, options: PoolJobOptions) {
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

  /** Whether the caller still waits. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** Notes that a thread has taken it. */
  begin(): void {
    this.#startedAt = this.#now();
  }

  /** Settles the promise with a reply. @throws what `readReply` throws; the promise is not settled then. */
  accept(reply: unknown): void {
    const { value, runMs } = readReply(this.request, reply);
    if (!this.#settle()) return;
    this.#resolvePromise({ value, runMs, queueMs: this.#startedAt - this.#queuedAt });
  }

  /** Rejects the promise unless it is settled. */
  reject(reason: unknown): void {
    if (this.#settle()) this.#rejectPromise(reason);
  }

  /** Returns whether this call settles it. Detaches the job from a signal that may live longer. */
  #settle(): boolean {
    if (!this.#isAwaited) return false;
    this.#isAwaited = false;
    this.#stopListening();
    return true;
  }
}
