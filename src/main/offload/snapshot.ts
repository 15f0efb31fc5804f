// Runs the work on the pool, each request with a snapshot of its data. Failed work is retried once on another thread, then runs on
// the calling thread.

import { CtxfoldError, WorkerPoolError } from '../../shared/errors.js';
import type { CountRequest, OptimizeRequest, TaskValue } from '../../shared/protocol.js';
import { entryCharacters } from '../../shared/tokens/estimate.js';
import type { PassMessage } from '../telemetry/channels.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import { InlineOffload } from './inline.js';
import { OffloadMeter } from './offload-meter.js';
import type { Offload } from './offload.js';
import { isRequestRefused } from './pool-errors.js';
import { countBatches } from './posted-entry.js';
import type { WorkerPool } from './worker-pool.js';

/** Attempts per task on workers. */
const MAX_ATTEMPTS = 2;

/**
 * Maximum entries of a posted history: the largest that was measured, about 300 MB in a worker's default heap. Longer histories are
 * passed inline, which blocks for less time than posting them would.
 */
const MAX_SNAPSHOT_ENTRIES = 100_000;

/**
 * An offload to a pool. Pool failures never reach the caller: the task is retried, then run inline, and reported. A task's own
 * errors are thrown at once, since they would recur. After the pool was closed every call rejects with `CLOSED`. The pool may
 * be shared; its owner closes it.
 */
export class SnapshotOffload implements Offload {
  readonly #pool: WorkerPool;
  readonly #inline: InlineOffload;
  readonly #meter: OffloadMeter;

  /** @param meter where work is booked, and every task that the pool could not do */
  constructor(pool: WorkerPool, meter: OffloadMeter = new OffloadMeter()) {
    this.#pool = pool;
    this.#meter = meter;
    this.#inline = new InlineOffload(this.#meter);
  }

  readonly optimize: Offload['optimize'] = async (history, base, config, signal) => {
    // Copied now: the history will have changed by the time a thread is free or the fallback runs.
    const snapshot = history.slice(0, base.length);
    if (snapshot.length > MAX_SNAPSHOT_ENTRIES) {
      return this.#inline.optimize(snapshot, base, config, signal);
    }
    const request = { kind: 'optimize', history: snapshot, config } as const;
    return this.#attempt(request, signal, () =>
      this.#inline.optimize(snapshot, base, config, signal),
    );
  };

  /** Posts the batches one per turn of the event loop, at most one per thread at a time. */
  readonly countTokens: Offload['countTokens'] = async (contents, signal) => {
    signal?.throwIfAborted();
    const counts: number[] = new Array<number>(contents.length).fill(0);
    const batches = countBatches([...contents]);
    let offset = 0;
    let hasFailed = false;
    const countBatchAfterBatch = async (): Promise<void> => {
      // The lanes share a generator; drawing is synchronous, so each batch goes to one lane.
      for (let batch = batches.next(); batch.done !== true && !hasFailed; batch = batches.next()) {
        const start = offset;
        const contents = batch.value;
        offset += contents.length;
        const request = { kind: 'count', contents } as const;
        const { tokens } = await this.#attempt(request, signal, async () => ({
          tokens: Int32Array.from(await this.#inline.countTokens(contents, signal)),
        }));
        for (const [at, count] of tokens.entries()) counts[start + at] = count;
        await nextTurn(signal);
      }
    };
    const lanes = Array.from({ length: this.#pool.threads }, () =>
      countBatchAfterBatch().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    );
    await Promise.all(lanes);
    return counts;
  };

  async #attempt<Request extends OptimizeRequest | CountRequest, Inline>(
    request: Request,
    signal: AbortSignal | undefined,
    runInline: () => Promise<Inline>,
  ): Promise<TaskValue<Request> | Inline> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const startedAt = performance.now();
        // Posts synchronously if a thread is free, otherwise later.
        const running = this.#pool.run(request, { signal });
        const postedAt = performance.now();
        const { value, runMs, queueMs } = await running;
        const times = { startedAt, postedAt, queueMs, runMs };
        this.#meter.addPosted({ ...sizeOf(request), ranOn: 'snapshot' }, times);
        return value;
      } catch (error) {
        // An abort may reject with anything, even a WorkerPoolError, so check the signal first.
        signal?.throwIfAborted();
        if (error instanceof CtxfoldError && error.code === 'TOKEN_COUNT_FAILED') {
          // If the calling thread cannot load the encoding either, it estimates and reports that itself.
          this.#meter.addFailure();
          return runInline();
        }
        if (!(error instanceof WorkerPoolError) || error.code === 'CLOSED') throw error;
        this.#meter.addFailure();
        if (attempt < MAX_ATTEMPTS && isWorthRetrying(error)) continue;
        this.#meter.addFallback({ task: request.kind, error, attempts: attempt });
        return runInline();
      }
    }
  }
}

function sizeOf(
  request: OptimizeRequest | CountRequest,
): Pick<PassMessage, 'task' | 'entries' | 'bytesSent'> {
  const contents = request.kind === 'optimize' ? request.history : request.contents;
  const bytesSent = contents.reduce((sum, entry) => sum + entryCharacters(entry), 0);
  return { task: request.kind, entries: contents.length, bytesSent };
}

/** Whether to try another thread: a refusal by the pool or by structured clone would recur. */
function isWorthRetrying(error: WorkerPoolError): boolean {
  const isRefusal = error.code === 'POOL_QUEUE_FULL' || error.code === 'POOL_UNAVAILABLE';
  return !isRefusal && !isRequestRefused(error);
}
