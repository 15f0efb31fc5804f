// One task in the pool: its request, its caller's promise and signal.

import type { Transferable } from 'node:worker_threads';
import type { TaskRequest, TaskValue } from '../../shared/protocol.js';
import { Deferred } from '../waiting/abortable.js';
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

/** A task, and the promise of its outcome. A thread may finish a task that nobody awaits. */
export class PoolJob {
  readonly request: TaskRequest;
  /** What the request transfers to the thread instead of copying. */
  readonly transferList: readonly Transferable[];
  readonly timeoutMs: number;
  readonly permit: WorkPermit;
  readonly outcome: Deferred<TaskOutcome<TaskRequest>>;
  readonly #now: () => number;
  readonly #queuedAt: number;
  #startedAt: number;

  constructor(request: TaskRequest, options: PoolJobOptions) {
    const { signal, onAbort } = options;
    this.request = request;
    this.transferList = options.transferList ?? [];
    this.timeoutMs = options.timeoutMs;
    this.permit = options.permit;
    this.#now = options.now;
    this.#queuedAt = this.#now();
    this.#startedAt = this.#queuedAt;
    this.outcome = new Deferred(signal, () => {
      onAbort(this);
    });
  }

  /** Notes that a thread has taken the task. */
  begin(): void {
    this.#startedAt = this.#now();
  }

  /** Resolves the outcome with a reply. @throws what `readReply` throws; the outcome is not settled then. */
  accept(reply: unknown): void {
    const { value, runMs } = readReply(this.request, reply);
    this.outcome.resolve({ value, runMs, queueMs: this.#startedAt - this.#queuedAt });
  }
}
