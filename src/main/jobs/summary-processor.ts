// What a worker does with a job: asks the model what the job names, and keeps the answer. Loads no queue.

import { SummarizerError } from '../../shared/errors.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import { withoutContent } from '../host/ask-host.js';
import type { StateStore } from '../state/state-store.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS, isSummarizer } from '../summarizer/summarizer.js';
import type { Summarizer, SummarizerRequest } from '../summarizer/summarizer.js';
import { withDeadline } from '../waiting/abortable.js';
import { answerKey, assertTextStore, CALLED_OFF, callOffKey, hashOf } from './summary-job.js';
import type { TextStore } from './summary-job.js';

/** What is kept of a job that is done: where its answer lies. */
export interface SummaryJobResult {
  readonly answer: string;
}

/** What a `Worker` of BullMQ calls for each job. */
export type SummaryProcessor = (
  job: { readonly data: unknown },
  token?: string,
  signal?: AbortSignal,
) => Promise<SummaryJobResult>;

const LOOK_MS = 1_000;

/** BullMQ knows it by its name: it is not tried again. */
class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/**
 * Makes what a `Worker` of BullMQ does with the jobs of `queuedSummarizer`. It may be run again for a job that is done, and asks
 * nobody then. A job that nobody waits for any more ends within a second.
 *
 * @throws TypeError for a summarizer or store that is none.
 */
export function summaryProcessor(
  summarizer: Summarizer,
  { store }: { readonly store: StateStore },
): SummaryProcessor {
  if (!isSummarizer(summarizer)) throw new TypeError('Expected a summarizer.');
  assertTextStore(store);
  // BullMQ gives a signal to who takes three arguments.
  return async ({ data }, _token, signal) => process(summarizer, store, data, signal);
}

async function process(
  summarizer: Summarizer,
  store: TextStore,
  data: unknown,
  signal: AbortSignal | undefined,
): Promise<SummaryJobResult> {
  const { key, hash } = isRecord(data) ? data : {};
  if (typeof key !== 'string' || typeof hash !== 'string') {
    throw new UnrecoverableError('Expected a job with a key and a hash.');
  }
  const answer = answerKey(key);
  if ((await store.get(answer, 'answer')) === null) {
    const text = (await store.get(key, hash)) ?? '';
    const request = tryParseJson(text);
    if (hashOf(text) !== hash || !isRecord(request)) {
      throw new Error('What the job asks is not in the store.');
    }
    const made = await ask(summarizer, store, { key, request, signal });
    await store.put(answer, 'answer', JSON.stringify(made));
  }
  await store.delete(key);
  return { answer };
}

interface Work {
  readonly key: string;
  readonly request: object;
  readonly signal: AbortSignal | undefined;
}

async function ask(
  summarizer: Summarizer,
  store: TextStore,
  { key, request, signal }: Work,
): Promise<object> {
  const { timeoutMs = DEFAULT_SUMMARIZER_TIMEOUT_MS } = summarizer;
  const controller = new AbortController();
  const end = (): void => {
    // Another worker tries it.
    controller.abort(new Error('The worker was told to end.'));
  };
  signal?.addEventListener('abort', end);
  const look = setInterval(() => {
    store.get(callOffKey(key), CALLED_OFF).then(
      (found) => {
        if (found === null) return;
        controller.abort(new UnrecoverableError('The session has moved on, or was closed.'));
      },
      // A store that is gone has nobody called off.
      () => undefined,
    );
  }, LOOK_MS);
  const late = (): Error =>
    new SummarizerError(`The model gave no answer within ${timeoutMs} ms.`, 'SUMMARIZER_TIMEOUT');
  try {
    return await withDeadline(timeoutMs, controller.signal, late, async (deadline) =>
      summarizer.generate({ ...(request as SummarizerRequest), signal: deadline }),
    );
  } catch (thrown) {
    controller.signal.throwIfAborted();
    // Whoever looks at the queue reads it.
    throw withoutContent(thrown);
  } finally {
    clearInterval(look);
    signal?.removeEventListener('abort', end);
  }
}
