// An adapter of the summarizer port for model objects of Vercel AI SDK providers. Their `doGenerate` has neither retries nor a
// deadline; both are added here. Structural types avoid a dependency on `ai` or provider packages.

import { setTimeout } from 'node:timers/promises';
import pRetry from 'p-retry';
import * as z from 'zod/mini';
import { SummarizerError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { parseOptions } from '../host/parse-options.js';
import { abortable, isBackground, MAX_TIMER_MS, withDeadline } from '../waiting/abortable.js';
import { readProviderFailure } from './provider-failure.js';
import type { ProviderFailure } from './provider-failure.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS } from './summarizer.js';
import type { Summarizer, SummarizerResponse, SummarizerFinishReason } from './summarizer.js';

/** The call options that all three specifications accept. */
export interface LanguageModelCall {
  prompt: (
    | { role: 'system'; content: string }
    | { role: 'user'; content: { type: 'text'; text: string }[] }
  )[];
  maxOutputTokens: number;
  abortSignal: AbortSignal;
}

/** The part of a model object (specification v2, v3 or v4) that is used. */
export interface LanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly modelId: string;
  doGenerate(options: LanguageModelCall): PromiseLike<unknown>;
}

export interface LanguageModelOptions {
  /** Tokens of the model's context window. */
  readonly contextLimit: number;
  /** Retries after the first attempt. @default 3 */
  readonly maxRetries?: number | undefined;
  /** Timeout of one attempt, in milliseconds. @default 120_000 */
  readonly attemptTimeoutMs?: number | undefined;
  /** Timeout of all attempts and waits together, in milliseconds. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  /** Delay before the first retry, in milliseconds; doubles each time, up to 30 s. @default 1_000 */
  readonly retryDelayMs?: number | undefined;
}

const MAX_RETRY_DELAY_MS = 30_000;
const milliseconds = z.int().check(z.positive(), z.lte(MAX_TIMER_MS));

const OPTIONS_SCHEMA = z.strictObject({
  contextLimit: z.int().check(z.positive()),
  maxRetries: z._default(z.int().check(z.gte(0), z.lte(20)), 3),
  attemptTimeoutMs: z._default(milliseconds, 120_000),
  timeoutMs: z._default(milliseconds, DEFAULT_SUMMARIZER_TIMEOUT_MS),
  retryDelayMs: z._default(z.int().check(z.gte(0), z.lte(MAX_RETRY_DELAY_MS)), 1_000),
});
type CompleteOptions = z.output<typeof OPTIONS_SCHEMA>;

const SPECIFICATIONS: readonly unknown[] = ['v2', 'v3', 'v4'];

/**
 * Makes a summarizer of a model object, such as the result of `createOpenAICompatible({…})('model-name')`.
 *
 * Connection failures, statuses 408, 409, 429 and 5xx, unreadable bodies and timeouts are retried, honoring the provider's
 * `retry-after`. `generate` rejects with `SummarizerError`, or with the signal's reason.
 *
 * @throws TypeError for anything but a model object of a known specification, RangeError for an invalid option.
 */
export function fromLanguageModel(model: LanguageModel, options: LanguageModelOptions): Summarizer {
  assertLanguageModel(model);
  const complete = parseOptions('summarizer options', OPTIONS_SCHEMA, options);
  const { contextLimit, timeoutMs, attemptTimeoutMs } = complete;
  return {
    contextLimit,
    timeoutMs,
    generate: ({ system, prompt, maxOutputTokens, signal }) => {
      const deadlineMs = performance.now() + timeoutMs;
      const attempt = async (abortSignal: AbortSignal): Promise<SummarizerResponse> => {
        const answer = await model.doGenerate({
          prompt: [
            { role: 'system', content: system },
            { role: 'user', content: [{ type: 'text', text: prompt }] },
          ],
          maxOutputTokens,
          abortSignal,
        });
        return readLanguageModelAnswer(answer);
      };
      return withDeadline(timeoutMs, signal, timeout('all attempts', timeoutMs), (outer) =>
        retry(complete, deadlineMs, outer, () =>
          withDeadline(attemptTimeoutMs, outer, timeout('an attempt', attemptTimeoutMs), attempt),
        ),
      );
    },
  };
}

function assertLanguageModel(model: unknown): void {
  const { specificationVersion, doGenerate } = partsOf(model);
  if (SPECIFICATIONS.includes(specificationVersion) && typeof doGenerate === 'function') return;
  const got =
    typeof specificationVersion === 'string'
      ? `one with specificationVersion '${specificationVersion}'`
      : typeof model;
  throw new TypeError(
    `Expected a model object with doGenerate and specificationVersion 'v2', 'v3' or 'v4', got ${got}.`,
  );
}

/** A model may be a proxy or have getters; one that throws here is not a model. */
function partsOf(model: unknown): Partial<Record<'specificationVersion' | 'doGenerate', unknown>> {
  if (typeof model !== 'object' || model === null) return {};
  try {
    const { specificationVersion, doGenerate } = model as ReturnType<typeof partsOf>;
    return { specificationVersion, doGenerate };
  } catch {
    return {};
  }
}

/** Retries while the error is transient. Rejects with the last failure as `SummarizerError`. */
async function retry(
  { maxRetries, retryDelayMs }: CompleteOptions,
  deadlineMs: number,
  signal: AbortSignal,
  attempt: () => Promise<SummarizerResponse>,
): Promise<SummarizerResponse> {
  const failures = new WeakMap<Error, ProviderFailure>();
  const run = async (): Promise<SummarizerResponse> => {
    try {
      return await attempt();
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = readProviderFailure(thrown);
      failures.set(failure.error, failure);
      throw failure.error;
    }
  };
  return pRetry(run, {
    retries: maxRetries,
    minTimeout: retryDelayMs,
    maxTimeout: MAX_RETRY_DELAY_MS,
    // Jitter: otherwise sessions that failed together would retry together.
    randomize: true,
    signal,
    unref: isBackground(signal),
    shouldRetry: async ({ error, retriesLeft }) => {
      const failure = failures.get(error);
      if (failure?.isRetryable !== true || retriesLeft === 0) return false;
      const waitMs = failure.retryAfterMs ?? 0;
      // A delay beyond the deadline is a refusal.
      if (performance.now() + waitMs >= deadlineMs) return false;
      if (waitMs > 0) {
        const options = { signal, ref: !isBackground(signal) };
        await abortable(setTimeout(waitMs, undefined, options), signal);
      }
      return true;
    },
  });
}

function timeout(what: string, timeoutMs: number): () => Error {
  return () =>
    new SummarizerError(
      `The summarizer's model gave no answer within the ${timeoutMs} ms that ${what} may take.`,
      'SUMMARIZER_TIMEOUT',
    );
}

/** All finish reasons except `unknown`, which stands for any other value. */
const FINISH_REASONS: readonly SummarizerFinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
];

/**
 * Parses what `doGenerate` returned, in the shapes of specifications v2 (plain finish reason and token counts), v3 and v4
 * (objects for both). Reasoning, files and sources are ignored.
 *
 * @throws SummarizerError `SUMMARIZER_FAILED` if it has none of the known shapes.
 */
function readLanguageModelAnswer(answer: unknown): SummarizerResponse {
  const { content, finishReason, usage } = recordOf(answer);
  if (!Array.isArray(content)) {
    throw new SummarizerError(
      `The model's doGenerate returned an answer whose content is ${typeof content}; expected an array.`,
      'SUMMARIZER_FAILED',
    );
  }
  const { inputTokens, outputTokens } = recordOf(usage);
  const parts = content.map(recordOf);
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  return {
    text: texts.join(''),
    finishReason: readFinishReason(finishReason),
    usage: { inputTokens: readCount(inputTokens), outputTokens: readCount(outputTokens) },
    toolCalls: parts.filter(({ type }) => type === 'tool-call'),
  };
}

function readFinishReason(finishReason: unknown): SummarizerFinishReason {
  const reason =
    typeof finishReason === 'string' ? finishReason : recordOf(finishReason)['unified'];
  return FINISH_REASONS.find((known) => known === reason) ?? 'unknown';
}

function readCount(count: unknown): number | undefined {
  const total = typeof count === 'number' ? count : recordOf(count)['total'];
  return typeof total === 'number' && total >= 0 ? total : undefined;
}

function recordOf(value: unknown): JsonRecord {
  return asRecord(value) ?? {};
}
