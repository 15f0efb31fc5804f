// The worker's side of a summary job: makes the request that the job refers to, and stores the answer. Does not load BullMQ.

import { SummarizerError } from '../../shared/errors.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import { withoutContent } from '../host/ask-host.js';
import type { StateStore } from '../state/state-store.js';
import { readProviderFailure } from '../summarizer/provider-failure.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS, isSummarizer } from '../summarizer/summarizer.js';
import type { Summarizer, SummarizerRequest } from '../summarizer/summarizer.js';
import { withDeadline } from '../waiting/abortable.js';
import {
  answerKey,
  assertTextStore,
  CANCELLATION,
  CANCELLED,
  cancellationKey,
  hashOf,
  LOST,
} from './summary-job.js';
import type { TextStore } from './summary-job.js';

/** The stored result of a job: the key of its answer. */
export interface SummaryJobResult {
  readonly answer: string;
}

/** The function that a BullMQ `Worker` calls for each job. */
export type SummaryProcessor = (
  job: {
    readonly data: unknown;
    readonly attemptsMade?: number;
    readonly opts?: { readonly attempts?: number | undefined };
  },
  token?: string,
  signal?: AbortSignal,
) => Promise<SummaryJobResult>;

type ProcessedJob = Parameters<SummaryProcessor>[0];

const CANCELLATION_POLL_MS = 1_000;

/** BullMQ recognizes this error by its name, and does not retry the job. */
class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/**
 * Makes the processor for jobs of `queuedSummarizer`. Idempotent: a completed job is not requested again. A cancelled job stops
 * within a second.
 *
 * @throws TypeError for an invalid summarizer or store.
 */
export function summaryProcessor(
  summarizer: Summarizer,
  { store }: { readonly store: StateStore },
): SummaryProcessor {
  if (!isSummarizer(summarizer)) {
    throw new TypeError(
      'Expected a summarizer: an object with a generate function and a contextLimit.',
    );
  }
  assertTextStore(store);
  // BullMQ passes a signal only to functions with three parameters.
  return async (job, _token, signal) => {
    const { key, hash } = isRecord(job.data) ? job.data : {};
    if (typeof key !== 'string' || typeof hash !== 'string') {
      throw new UnrecoverableError('Expected a job with a key and a hash.');
    }
    const answer = answerKey(key);
    // A store written in JavaScript may return `undefined` instead of `null`.
    if (typeof (await store.get(answer, 'answer')) !== 'string') {
      const text = (await store.get(key, hash)) ?? '';
      const request = tryParseJson(text);
      if (hashOf(text) !== hash || !isRecord(request)) {
        throw new Error(LOST);
      }
      try {
        const made = await ask(summarizer, store, key, request, signal);
        await store.put(answer, 'answer', JSON.stringify(made));
      } catch (thrown) {
        const isOver = thrown instanceof UnrecoverableError || isLastAttempt(job);
        // Nobody needs the request any more, and it contains text of a history.
        if (isOver) await store.delete(key).catch(() => undefined);
        throw thrown;
      }
    }
    await store.delete(key);
    return { answer };
  };
}

/** Whether BullMQ does not retry the job if it fails now. It counts attempts when they have ended. */
function isLastAttempt({ attemptsMade, opts }: ProcessedJob): boolean {
  return attemptsMade !== undefined && attemptsMade + 1 >= (opts?.attempts ?? 1);
}

async function ask(
  summarizer: Summarizer,
  store: TextStore,
  key: string,
  request: object,
  signal: AbortSignal | undefined,
): Promise<object> {
  const { timeoutMs = DEFAULT_SUMMARIZER_TIMEOUT_MS } = summarizer;
  const controller = new AbortController();
  const end = (): void => {
    // An ordinary error, so that another worker retries the job.
    controller.abort(new Error('The worker was told to end.'));
  };
  if (signal?.aborted === true) end();
  signal?.addEventListener('abort', end);
  const look = setInterval(() => {
    void isCancelled(store, key).then((hasBeen) => {
      if (hasBeen) controller.abort(new UnrecoverableError(CANCELLED));
    });
  }, CANCELLATION_POLL_MS);
  const late = (): Error =>
    new SummarizerError(`The model gave no answer within ${timeoutMs} ms.`, 'SUMMARIZER_TIMEOUT');
  try {
    return await withDeadline(timeoutMs, controller.signal, late, async (deadline) => {
      const asked = { ...(request as SummarizerRequest), signal: deadline };
      const { text, finishReason, usage, toolCalls } = await summarizer.generate(asked);
      // Copy field by field: results of SDKs have getters, which `JSON.stringify` leaves out.
      return { text, finishReason, usage, toolCalls };
    });
  } catch (thrown) {
    controller.signal.throwIfAborted();
    const { error } = readProviderFailure(thrown);
    // The queue keeps message and stack for inspection, and the provider's own text may quote an API key or the history.
    throw Object.assign(withoutContent(error), { cause: error.cause });
  } finally {
    clearInterval(look);
    signal?.removeEventListener('abort', end);
  }
}

/** Whether the job was cancelled; if the store is unreachable, nothing can be. */
async function isCancelled(store: TextStore, key: string): Promise<boolean> {
  try {
    return typeof (await store.get(cancellationKey(key), CANCELLATION)) === 'string';
  } catch {
    return false;
  }
}
