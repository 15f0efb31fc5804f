// A session's connection to its resident history, by Comlink over a port. Ensures that every call ends: with a validated reply, or
// with the failure of the connection.

import type { MessagePort } from 'node:worker_threads';
import { releaseProxy, wrap } from 'comlink';
import type { Remote } from 'comlink';
import type { DensityBase, PassSettings } from '../../shared/density.js';
import { asError, WorkerPoolError } from '../../shared/errors.js';
import type {
  CompressionRequest,
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
  ResidentCalls,
  WireReply,
} from '../../shared/resident-protocol.js';
import { Deadline } from '../waiting/abortable.js';
import { readCompressionReply, readDeltaReply, readPassReply } from './reply.js';
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

/**
 * An open connection. In Comlink a call's promise hangs forever if the thread dies, so each call races with the port's `close` event,
 * which comes within about a millisecond, and with a deadline. A connection that failed once is closed: the worker's state may differ
 * from what the session assumes.
 */
export class ResidentConnection {
  readonly #port: MessagePort;
  readonly #remote: Remote<ResidentCalls>;
  /** Cached: Comlink creates a proxy on each property access. */
  readonly #calls: Pick<Remote<ResidentCalls>, keyof ResidentCalls>;
  readonly #options: ResidentConnectionOptions;
  /** The functions that reject each open call. */
  readonly #openCalls: Set<(error: Error) => void> = new Set();
  #failure: Error | undefined;

  constructor(port: MessagePort, options: ResidentConnectionOptions) {
    this.#port = port;
    this.#options = options;
    // Node's port has the methods that Comlink needs, but Comlink's types expect a browser's.
    this.#remote = wrap<ResidentCalls>(port);
    const { receive, plan, compress } = this.#remote;
    this.#calls = { receive, plan, compress };
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

  /** Posts a delta synchronously. @throws WorkerPoolError if the connection fails, which closes it. */
  receive(delta: HistoryDelta): Promise<ReadReply<DeltaValue>> {
    return this.#call(
      () => this.#calls.receive(delta),
      (reply) => readDeltaReply(delta, this.#options.countsTokens, reply),
    );
  }

  /** Requests a pass with its own settings. @throws as `receive` does. */
  plan(base: DensityBase, pass: PassSettings): Promise<ReadReply<PlannedPass>> {
    return this.#call(
      () => this.#calls.plan(base, pass),
      (reply) => readPassReply(base, reply),
    );
  }

  /** Requests a compression; `null` if the worker cannot plan it. @throws as `receive` does. */
  compress(
    base: DensityBase,
    request: CompressionRequest,
  ): Promise<ReadReply<PlannedCompression | null>> {
    return this.#call(() => this.#calls.compress(base, request), readCompressionReply);
  }

  /** Closes the connection; the worker releases what it holds for it. Idempotent. */
  close(): void {
    this.#fail(new WorkerPoolError('The connection to a resident history is closed.', 'CLOSED'));
  }

  #call<Value>(
    post: () => Promise<WireReply<Value>>,
    read: (reply: unknown) => ReadReply<Value>,
  ): Promise<ReadReply<Value>> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      const postedAt = performance.now();
      let deadline = this.#startDeadline(postedAt, this.#options.timeoutMs, (next) => {
        deadline = next;
      });
      const end = (): void => {
        deadline.cancel();
        this.#openCalls.delete(fail);
        if (this.#openCalls.size === 0) this.#port.unref();
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      if (this.#openCalls.size === 0) this.#port.ref();
      this.#openCalls.add(fail);
      exchange(post, read).then(
        (outcome) => {
          this.#options.onHeard();
          if (!this.#openCalls.has(fail)) return;
          end();
          resolve(outcome);
        },
        (thrown: unknown) => {
          this.#fail(asError(thrown));
        },
      );
    });
  }

  /**
   * A thread serves many sessions. As long as it answers any of them it is busy, not stuck, and the call's deadline is
   * extended, up to a limit.
   */
  #startDeadline(postedAt: number, waitMs: number, renew: (next: Deadline) => void): Deadline {
    return new Deadline(waitMs, () => {
      const { timeoutMs, lastHeardAt } = this.#options;
      const now = performance.now();
      const silentMs = now - Math.max(postedAt, lastHeardAt());
      const isSilent = silentMs >= timeoutMs;
      const waitedMs = Math.round(now - postedAt);
      if (!isSilent && waitedMs < MAX_EXTENSIONS * timeoutMs) {
        renew(this.#startDeadline(postedAt, timeoutMs - silentMs, renew));
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
    for (const fail of this.#openCalls) fail(error);
    // Comlink registers the port for every proxy until the proxy is collected, and the port's listeners reference this connection and its
    // session. Without releasing each proxy, they would leak.
    for (const proxy of [this.#remote, ...Object.values(this.#calls)]) proxy[releaseProxy]();
    this.#port.removeAllListeners();
    this.#port.close();
    this.#options.onEnd();
  }
}

/** Posts synchronously; converts throws into rejections. */
async function exchange<Value>(
  post: () => Promise<WireReply<Value>>,
  read: (reply: unknown) => ReadReply<Value>,
): Promise<ReadReply<Value>> {
  return read(await post());
}
