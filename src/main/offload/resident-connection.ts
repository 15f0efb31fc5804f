// A session's connection to its resident history: posts deltas to a port. Ensures that every call ends: with a validated reply, or with
// the failure of the connection.

import type { MessagePort } from 'node:worker_threads';
import { asError, WorkerPoolError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import type { DeltaValue, HistoryDelta } from '../../shared/resident-protocol.js';
import { Deadline, Deferred } from '../waiting/abortable.js';
import { readDeltaReply } from './reply.js';
import type { ReadReply } from './reply.js';

/** Even if the thread answers others, a call waits at most this many times its deadline; then only its connection is given up. */
const MAX_EXTENSIONS = 12;

export interface ResidentConnectionOptions {
  /** Whether the worker counts the tokens of new entries. */
  readonly countsTokens: boolean;
  /** How long a thread may be silent while an answer is pending. */
  readonly timeoutMs: number;
  /** When the thread last answered anyone, by `performance.now`. */
  readonly lastHeardAt: () => number;
  /** Called for every answer. */
  readonly onHeard: () => void;
  /** Called if the thread is silent for too long; it should be stopped. */
  readonly onStuck: () => void;
  /** Called once when the connection is closed, for any reason. */
  readonly onEnd: () => void;
}

/** A delta that was posted and waits for its answer. */
interface OpenCall {
  readonly delta: HistoryDelta;
  readonly postedAt: number;
  readonly outcome: Deferred<ReadReply<DeltaValue>>;
  deadline?: Deadline;
}

/**
 * An open connection. If the thread dies there is no answer, so each call races with the port's `close` event, which comes within
 * about a millisecond, and with a deadline. A connection that failed once is closed: the worker's state may differ from what the
 * session assumes.
 */
export class ResidentConnection {
  readonly #port: MessagePort;
  readonly #options: ResidentConnectionOptions;
  /** By the number of its delta. */
  readonly #openCalls = new Map<unknown, OpenCall>();
  #failure: Error | undefined;

  constructor(port: MessagePort, options: ResidentConnectionOptions) {
    this.#port = port;
    this.#options = options;
    port.on('message', (answer: unknown) => {
      this.#hear(answer);
    });
    port.on('close', () => {
      this.#fail(new WorkerPoolError('The thread of a resident history died.', 'WORKER_DIED'));
    });
    port.on('messageerror', (cause: unknown) => {
      this.#fail(
        new WorkerPoolError('A reply of a resident history could not be read.', 'WORKER_FAILED', {
          cause,
        }),
      );
    });
    // A pending call keeps the process alive; an idle connection must not.
    port.unref();
  }

  /** Whether the connection can no longer be used. */
  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether an answer is pending. */
  get isBusy(): boolean {
    return this.#openCalls.size > 0;
  }

  /**
   * Posts a delta synchronously, and resolves to its validated answer.
   *
   * @throws WorkerPoolError if the connection fails, which closes it.
   */
  receive(delta: HistoryDelta): Promise<ReadReply<DeltaValue>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const outcome = new Deferred<ReadReply<DeltaValue>>();
    const call: OpenCall = { delta, postedAt: performance.now(), outcome };
    this.#startDeadline(call, this.#options.timeoutMs);
    if (this.#openCalls.size === 0) this.#port.ref();
    this.#openCalls.set(delta.sequence, call);
    try {
      this.#port.postMessage(delta);
    } catch (thrown) {
      this.#fail(asError(thrown));
    }
    return outcome.promise;
  }

  /** Closes the connection; the worker releases what it holds for it. Idempotent. */
  close(): void {
    this.#fail(new WorkerPoolError('The connection to a resident history is closed.', 'CLOSED'));
  }

  /** Takes an answer; a faulty thread may post anything. */
  #hear(answer: unknown): void {
    const { sequence, reply } = asRecord(answer) ?? {};
    const call = this.#openCalls.get(sequence);
    if (call === undefined) return;
    let read: ReadReply<DeltaValue>;
    try {
      read = readDeltaReply(call.delta, this.#options.countsTokens, reply);
    } catch (thrown) {
      this.#fail(asError(thrown));
      return;
    }
    this.#options.onHeard();
    call.deadline?.cancel();
    this.#openCalls.delete(sequence);
    if (this.#openCalls.size === 0) this.#port.unref();
    call.outcome.resolve(read);
  }

  /**
   * A thread serves many sessions. As long as it answers any of them it is busy, not stuck, and the call's deadline is
   * extended, up to a limit.
   */
  #startDeadline(call: OpenCall, waitMs: number): void {
    const { postedAt } = call;
    call.deadline = new Deadline(waitMs, () => {
      const { timeoutMs, lastHeardAt } = this.#options;
      const now = performance.now();
      const silentMs = now - Math.max(postedAt, lastHeardAt());
      const isSilent = silentMs >= timeoutMs;
      const waitedMs = Math.round(now - postedAt);
      if (!isSilent && waitedMs < MAX_EXTENSIONS * timeoutMs) {
        this.#startDeadline(call, timeoutMs - silentMs);
        return;
      }
      // A thread that still answers other sessions is not stopped; only this connection is given up.
      if (isSilent) this.#options.onStuck();
      const ending = isSilent ? '; its thread was stopped' : ', although its thread is busy';
      this.#fail(
        new WorkerPoolError(
          `A resident history did not answer within ${waitedMs} ms${ending}.`,
          'WORKER_TIMEOUT',
        ),
      );
    });
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const { deadline, outcome } of this.#openCalls.values()) {
      deadline?.cancel();
      outcome.reject(error);
    }
    this.#openCalls.clear();
    // The listeners reference this connection and its session.
    this.#port.removeAllListeners();
    this.#port.close();
    this.#options.onEnd();
  }
}
