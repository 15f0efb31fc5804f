// A summarizer that delegates to workers over a BullMQ queue. Request and answer are kept in a store, and the job refers to them.
// If no worker takes a request in time, this process makes the request itself. Does not load BullMQ.

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SummarizerError } from '../../shared/errors.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import { hasFunctions, readOptions } from '../../shared/misuse.js';
import { withoutContent } from '../host/ask-host.js';
import { SILENT_LOGGER, safeLogger } from '../host/logger.js';
import type { Logger } from '../host/logger.js';
import { DEFAULT_LIMITS } from '../state/state-store.js';
import type { StateStore } from '../state/state-store.js';
import {
  DEFAULT_SUMMARIZER_TIMEOUT_MS,
  isSummarizer,
  LeftToOtherProcess,
} from '../summarizer/summarizer.js';
import type {
  Summarizer,
  SummarizerRequest,
  SummarizerResponse,
} from '../summarizer/summarizer.js';
import { isBackground, withDeadline } from '../waiting/abortable.js';
import {
  answerKey,
  assertTextStore,
  CANCELLATION,
  CANCELLED,
  cancellationKey,
  hashOf,
  LOST,
} from './summary-job.js';
import type { SummaryJobData, TextStore } from './summary-job.js';

/** The part of a BullMQ job that is used. */
export interface SummaryJob {
  readonly failedReason?: string;
  getState(): Promise<string>;
  remove(): Promise<unknown>;
}

/** The part of a BullMQ `Queue` that is used; opened and closed by its owner. */
export interface SummaryQueue {
  add(
    name: string,
    data: SummaryJobData,
    options: Readonly<Record<string, unknown>>,
  ): Promise<unknown>;
  getJob(id: string): Promise<SummaryJob | undefined>;
  /** Returns the number of connected workers, to detect that none is left to finish a job. @default unknown */
  getWorkersCount?(): Promise<number>;
}

export interface QueuedSummarizerOptions {
  readonly queue: SummaryQueue;
  /** Carries requests and answers; workers must use the same server or directory. */
  readonly store: StateStore;
  /** How long a request waits for a worker before this process makes it itself, in milliseconds. @default 5_000 */
  readonly takenWithinMs?: number | undefined;
  /** Gets a warning with the reason if this process makes a request itself. @default a logger that discards everything */
  readonly logger?: Logger | undefined;
}

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;
const DAY_S = 86_400;
/** Three attempts; finished jobs are kept for inspection. */
const JOB_OPTIONS = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 300 },
  removeOnComplete: { age: DAY_S, count: 1_000 },
  removeOnFail: { age: DAY_S, count: 1_000 },
} as const;

/**
 * Makes a summarizer whose requests are answered by workers (`summaryProcessor`, `ctxfold worker`). Equal requests for the same
 * version of a conversation share one job, whichever process makes them. If the signal aborts, the job is cancelled.
 *
 * @param summarizer used by this process if no worker takes a request in time, or the queue or store fails
 * @throws TypeError for an invalid summarizer, queue or store; RangeError for an invalid time or an unknown option.
 */
export function queuedSummarizer(
  summarizer: Summarizer,
  options: QueuedSummarizerOptions,
): Summarizer {
  const known = { queue: null, store: null, takenWithinMs: null, logger: null };
  const {
    queue,
    store,
    takenWithinMs = 5_000,
    logger = SILENT_LOGGER,
  } = readOptions('options', options, known);
  if (!isSummarizer(summarizer)) throw new TypeError('Expected a summarizer.');
  if (!hasFunctions(queue, ['add', 'getJob'])) throw new TypeError('Expected a queue of BullMQ.');
  assertTextStore(store);
  if (!(takenWithinMs > 0)) throw new RangeError('Expected takenWithinMs to be above 0.');
  const { contextLimit, timeoutMs = DEFAULT_SUMMARIZER_TIMEOUT_MS } = summarizer;
  const asking = { summarizer, queue, store, takenWithinMs, logger: safeLogger(logger) };
  return {
    contextLimit,
    timeoutMs: timeoutMs + takenWithinMs,
    generate: (request) => new QueuedRequest(asking, request).generate(),
    answerTo: (id) =>
      withTimeout(store, () => storedAnswer(store, jobIdOf(id))).catch(() => undefined),
  };
}

interface Parts extends Pick<QueuedSummarizerOptions, 'queue'> {
  readonly summarizer: Summarizer;
  readonly store: TextStore;
  readonly takenWithinMs: number;
  readonly logger: Logger;
}

/** One request. */
class QueuedRequest {
  readonly #parts: Parts;
  readonly #request: SummarizerRequest;
  readonly #id: string;
  #countedAt = -Infinity;
  #hadWorkers = false;
  #hasLostThem = false;

  constructor(parts: Parts, request: SummarizerRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#id = jobIdOf(request.id ?? randomUUID());
  }

  async generate(): Promise<SummarizerResponse> {
    const { summarizer, logger } = this.#parts;
    const { signal } = this.#request;
    try {
      return await this.#requestFromWorkers();
    } catch (thrown) {
      if (signal.aborted && !(signal.reason instanceof LeftToOtherProcess)) void this.#cancel();
      signal.throwIfAborted();
      if (thrown instanceof SummarizerError && thrown.code === 'SUMMARIZER_FAILED') throw thrown;
      logger.warn('no worker has made a summary; this process asks for it', {
        error: withoutContent(thrown),
      });
      return summarizer.generate(this.#request);
    }
  }

  async #requestFromWorkers(): Promise<SummarizerResponse> {
    const { takenWithinMs } = this.#parts;
    const known = await this.#answer();
    if (known !== undefined) return known;
    // Count the workers before the job exists, because it may crash a worker at once.
    const counting = this.#countWorkers();
    await this.#enqueue();
    await counting;
    let waitingSince = performance.now();
    let heardAt = waitingSince;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5)) {
      const { signal } = this.#request;
      await setTimeout(pauseMs, undefined, { signal, ref: !isBackground(signal) });
      const now = performance.now();
      try {
        const state = await this.#poll();
        heardAt = now;
        if (typeof state === 'object') return state;
        if (state === 'active' && !(await this.#isAbandoned(now))) waitingSince = now;
      } catch (thrown) {
        // Tolerate failures for a while: the server may be restarting.
        if (thrown instanceof SummarizerError || now - heardAt > takenWithinMs) throw thrown;
      }
      if (now - waitingSince <= takenWithinMs) continue;
      void this.#cancel();
      throw new Error(`No worker has had the job for ${takenWithinMs} ms.`);
    }
  }

  async #enqueue(): Promise<void> {
    const { queue, store } = this.#parts;
    const { system, prompt, maxOutputTokens } = this.#request;
    const text = JSON.stringify({ system, prompt, maxOutputTokens });
    const data = { key: this.#id, hash: hashOf(text) };
    const former = await this.#withTimeout(() => queue.getJob(this.#id));
    const state = await this.#withTimeout(async () => former?.getState());
    const isOver = state === 'completed' || state === 'failed';
    if (former === undefined || isOver) {
      await this.#withTimeout(() => store.delete(cancellationKey(this.#id)));
      if (isOver) await this.#withTimeout(async () => former?.remove());
    }
    await this.#withTimeout(() => store.put(data.key, data.hash, text));
    await this.#withTimeout(() => queue.add('summary', data, { ...JOB_OPTIONS, jobId: this.#id }));
  }

  /** Returns the answer, or the state of the job. @throws SummarizerError if the job failed */
  async #poll(): Promise<SummarizerResponse | string> {
    const { queue, store } = this.#parts;
    const job = await this.#withTimeout(() => queue.getJob(this.#id));
    const state = await this.#withTimeout(async () => job?.getState());
    if (state === 'failed') {
      // A worker that died of the job has not deleted its request.
      await this.#withTimeout(() => store.delete(this.#id)).catch(() => undefined);
      // Load the job again: if it failed after the first load, that copy has no reason.
      const failed = await this.#withTimeout(() => queue.getJob(this.#id));
      const reason = failed?.failedReason;
      // Not a failure of the model: another process that shares the job has cancelled it, or an earlier request of this session
      // did, for instance because the user stopped it.
      if (reason === undefined || reason === CANCELLED || reason === LOST) {
        const why = reason ?? 'It is gone.';
        throw new SummarizerError(`No worker did ${this.#id}: ${why}`, 'SUMMARIZER_UNREACHABLE');
      }
      throw new SummarizerError(`The worker failed: ${reason}`, 'SUMMARIZER_FAILED');
    }
    if (state !== 'completed' && job !== undefined) return state ?? 'unknown';
    const answer = await this.#answer();
    if (answer !== undefined) return answer;
    throw new SummarizerError(`The job ${this.#id} is gone.`, 'SUMMARIZER_UNREACHABLE');
  }

  /**
   * Whether there were workers and all are gone, so that nobody would find the job of a dead worker stalled: only another worker
   * does. Some servers list connections to nobody, or only to others. There the count is 0 from the start, and never counts as a
   * loss.
   */
  async #isAbandoned(now: number): Promise<boolean> {
    if (now - this.#countedAt < this.#parts.takenWithinMs / 2) return this.#hasLostThem;
    this.#countedAt = now;
    const count = await this.#countWorkers();
    this.#hasLostThem = this.#hadWorkers && count === 0;
    return this.#hasLostThem;
  }

  /** Returns the number of connected workers; `undefined` if the server does not tell. */
  async #countWorkers(): Promise<number | undefined> {
    const { queue } = this.#parts;
    const counting = this.#withTimeout(async () => queue.getWorkersCount?.());
    const count = await counting.catch(() => undefined);
    this.#hadWorkers ||= (count ?? 0) > 0;
    return count;
  }

  #answer(): Promise<SummarizerResponse | undefined> {
    return this.#withTimeout(() => storedAnswer(this.#parts.store, this.#id));
  }

  /** Removes the job, or tells the worker that runs it to stop. */
  async #cancel(): Promise<void> {
    const { queue, store, logger } = this.#parts;
    try {
      const job = await this.#withTimeout(() => queue.getJob(this.#id));
      if ((await this.#withTimeout(async () => job?.getState())) === 'active') {
        await this.#withTimeout(() => store.put(cancellationKey(this.#id), CANCELLATION, ''));
        return;
      }
      await this.#withTimeout(async () => job?.remove());
      await this.#withTimeout(() => store.delete(this.#id));
    } catch (thrown) {
      logger.debug('a summary that nobody needs was not called off', {
        error: withoutContent(thrown),
      });
    }
  }

  #withTimeout<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return withTimeout(this.#parts.store, ask);
  }
}

function jobIdOf(request: string): string {
  return `summary-${request}`;
}

/** Returns the stored answer of a job. An unusable one is returned once, then deleted. */
async function storedAnswer(
  store: TextStore,
  jobId: string,
): Promise<SummarizerResponse | undefined> {
  const key = answerKey(jobId);
  const answer = tryParseJson((await store.get(key, 'answer')) ?? '');
  if (!isRecord(answer) || typeof answer['text'] !== 'string') return undefined;
  if (answer['finishReason'] !== 'stop') await store.delete(key);
  return answer as unknown as SummarizerResponse;
}

/** Calls the queue or the store, either of which may be unreachable, with the store's operation timeout. */
function withTimeout<Answer>({ limits }: StateStore, ask: () => Promise<Answer>): Promise<Answer> {
  const deadlineMs = limits?.deadlineMs ?? DEFAULT_LIMITS.deadlineMs;
  const late = (): Error => new Error(`Queue and store gave no answer within ${deadlineMs} ms.`);
  return withDeadline(deadlineMs, undefined, late, ask);
}
