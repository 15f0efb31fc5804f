// A session's line to its resident history, by Comlink over a port. Makes sure that every call ends:
// with a checked reply, or with the loss of the line.

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
import { Deadline } from './deadline.js';
import { readCompressionReply, readDeltaReply, readPassReply } from './line-reply.js';
import type { ReadReply } from './reply.js';

/** A call waits this many times its deadline at most, however alive its thread is. */
const MAX_EXTENSIONS = 12;

export interface ResidentLineOptions {
  /** Whether the worker counts the tokens of what comes in. */
  readonly countsTokens: boolean;
  /** How long a thread may be silent while it owes an answer. */
  readonly timeoutMs: number;
  /** When the thread last answered anybody, on the clock of `performance.now`. */
  readonly lastHeardAt: () => number;
  /** Told of every answer. */
  readonly onHeard: () => void;
  /** Told when the thread owes an answer for too long; it should be stopped. */
  readonly onStuck: () => void;
  /** Told once when the line is gone, for whatever reason. */
  readonly onEnd: () => void;
}

/**
 * An open line. A call's promise in Comlink hangs for ever once the thread is gone, so each is raced
 * with the port's `close` event, which comes within about a millisecond, and with a deadline. A line
 * that has failed once is closed: what the worker holds may not be what the session believes.
 */
export class ResidentLine {
  readonly #port: MessagePort;
  readonly #remote: Remote<ResidentCalls>;
  /** Comlink makes a proxy of each method that is asked for: these are made once. */
  readonly #calls: Pick<Remote<ResidentCalls>, keyof ResidentCalls>;
  readonly #options: ResidentLineOptions;
  /** By open call, what rejects it. */
  readonly #openCalls: Set<(error: Error) => void> = new Set();
  #failure: Error | undefined;

  constructor(port: MessagePort, options: ResidentLineOptions) {
    this.#port = port;
    this.#options = options;
    // A port of Node has the methods that Comlink asks for; its types know only those of browsers.
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
    // Somebody who waits keeps the process alive; a line that is only open must not.
    port.unref();
  }

  /** Whether it can no longer be used. */
  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether an answer is outstanding. */
  get isBusy(): boolean {
    return this.#openCalls.size > 0;
  }

  /** Posts a delta, synchronously. @throws WorkerPoolError when the line fails; it is closed then. */
  receive(delta: HistoryDelta): Promise<ReadReply<DeltaValue>> {
    return this.#call(
      () => this.#calls.receive(delta),
      (reply) => readDeltaReply(delta, this.#options.countsTokens, reply),
    );
  }

  /** Asks for a pass with settings of its own. @throws as `receive` does. */
  plan(base: DensityBase, pass: PassSettings): Promise<ReadReply<PlannedPass>> {
    return this.#call(
      () => this.#calls.plan(base, pass),
      (reply) => readPassReply(base, reply),
    );
  }

  /** Asks for a compression; `null` when the worker cannot plan it. @throws as `receive` does. */
  compress(
    base: DensityBase,
    request: CompressionRequest,
  ): Promise<ReadReply<PlannedCompression | null>> {
    return this.#call(() => this.#calls.compress(base, request), readCompressionReply);
  }

  /** Closes the line; the worker lets go of what it holds for it. May be called again. */
  close(): void {
    this.#fail(new WorkerPoolError('The line to a resident history is closed.', 'CLOSED'));
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
   * A thread serves many sessions. As long as it answers any of them it is not stuck, only busy, and a
   * call gets another while, but not for ever.
   */
  #startDeadline(postedAt: number, waitMs: number, renew: (next: Deadline) => void): Deadline {
    return new Deadline(waitMs, () => {
      const { timeoutMs, lastHeardAt } = this.#options;
      const now = performance.now();
      const silentMs = now - Math.max(postedAt, lastHeardAt());
      if (silentMs < timeoutMs && now - postedAt < MAX_EXTENSIONS * timeoutMs) {
        renew(this.#startDeadline(postedAt, timeoutMs - silentMs, renew));
      } else {
        this.#options.onStuck();
        this.#fail(silenceError(timeoutMs));
      }
    });
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const fail of this.#openCalls) fail(error);
    // Comlink registers the port with every proxy until that is collected, and the port's listeners hold this
    // line and its session: unless each is let go of, they keep each other for good.
    for (const proxy of [this.#remote, ...Object.values(this.#calls)]) proxy[releaseProxy]();
    this.#port.removeAllListeners();
    this.#port.close();
    this.#options.onEnd();
  }
}

/** Posts at once. Whatever is thrown on the way is a rejection. */
async function exchange<Value>(
  post: () => Promise<WireReply<Value>>,
  read: (reply: unknown) => ReadReply<Value>,
): Promise<ReadReply<Value>> {
  return read(await post());
}

function silenceError(timeoutMs: number): WorkerPoolError {
  return new WorkerPoolError(
    `A resident history did not answer within ${timeoutMs} ms; its thread was stopped.`,
    'WORKER_TIMEOUT',
  );
}
