// The adapter for a single model of the AI SDK: a middleware that compacts each prompt, also of calls without `prepareStep`, or has
// the model's provider do it. Changes nothing of a call but its prompt.

import type { Compactor } from '../../main/compactor.js';
import { isFixableByCompacting } from '../../main/models/model-limits.js';
import { asArray, asFilledText, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { checkedFields, reportedUsage } from '../request/call-arguments.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import { warnIfServerHeld } from '../conversation/warn-of-failure.js';
import { compactedTo, compactionFailed } from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { hasServerCalls } from '../request/provider-usage.js';
import { overheadOf } from '../request/request-overhead.js';
import { isSameList } from '../format/same-value.js';
import { describeModel } from './anthropic-model.js';
import { withCacheMarkBefore } from './cache-mark.js';
import type { ModelReference } from './anthropic-model.js';
import type { SdkMessage } from './sdk-message.js';
import { PROMPT_FORMAT } from './sdk-message-format.js';
import { withSettledResults } from './step-results.js';

/** The part of a model call that is used. */
export interface ModelCall<Params> {
  readonly params: Params;
  readonly model: ModelReference;
}

/** The parameters of a model call that are used. */
export interface PromptParams {
  readonly prompt: readonly SdkMessage[];
  readonly abortSignal?: AbortSignal | undefined;
  /** May say how long the prompt is to be cached. */
  readonly providerOptions?: object | undefined;
  /** Counted as overhead, like `responseFormat`, because both take a part of the context window. */
  readonly tools?: readonly object[] | undefined;
  readonly responseFormat?: object | undefined;
}

/** A `LanguageModelMiddleware` of AI SDK 6 and 7. */
export interface CompactionMiddleware {
  readonly specificationVersion: 'v3';
  /**
   * Returns the parameters with the compacted prompt, or the same object if nothing is edited. Rejects with
   * `ContextWindowExceededError` if the prompt cannot be made to fit, and with the reason of its signal.
   */
  readonly transformParams: <Params extends PromptParams>(
    call: ModelCall<Params>,
  ) => Promise<Params>;
  /**
   * Returns the model's answer, and keeps its usage for the next call of the conversation. If the model rejects the prompt as too
   * long and names its limit, the compactor remembers that.
   */
  readonly wrapGenerate: <Result>(call: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly params: object;
    readonly model: ModelReference;
  }) => Promise<Result>;
  /** The same for a streamed answer. */
  readonly wrapStream: <Result>(call: {
    readonly doStream: () => PromiseLike<Result>;
    readonly params: object;
    readonly model: ModelReference;
  }) => Promise<Result>;
}

/** Prompts that a middleware has compacted, as they were given to it. */
const COMPACTED_PROMPTS = new WeakSet<object>();

/** Whether a middleware has compacted this prompt, so that the middleware handles its usage and refusals. */
export function isCompactedPrompt(prompt: unknown): boolean {
  return Array.isArray(prompt) && COMPACTED_PROMPTS.has(prompt);
}

/** By compactor, the models that have ignored a compaction request. */
const IGNORING_MODELS = new WeakMap<Compactor, Set<string>>();

/**
 * Creates a middleware for `wrapLanguageModel`. It may serve many models and conversations: the AI SDK rebuilds each
 * prompt, and the conversation is recognized by the content of its messages. It may also be created anew: with
 * the same compactor and equal options, a conversation continues in its session.
 *
 * @throws RangeError naming each invalid option.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options: AdapterOptions = {},
): CompactionMiddleware {
  const compact = createMessageCompactor(compactor, PROMPT_FORMAT, options);
  const logger = loggerOf(compactor, options);
  const ignoring = IGNORING_MODELS.get(compactor) ?? new Set();
  IGNORING_MODELS.set(compactor, ignoring);
  /** Keyed by the parameters that `transformParams` returned. */
  const calls = new WeakMap<object, CompactedCall>();
  return {
    specificationVersion: 'v3',
    transformParams: (modelCall) => compactParams(modelCall),
    wrapGenerate: ({ doGenerate, params, model }) =>
      reporting('doGenerate', doGenerate, params, model),
    wrapStream: ({ doStream, params, model }) => reporting('doStream', doStream, params, model),
  };

  async function compactParams<Params extends PromptParams>(
    modelCall: ModelCall<Params>,
    refusal?: unknown,
  ): Promise<Params> {
    const { model, params } = checkedFields(modelCall, 'a call to a model');
    const { abortSignal, providerOptions, tools, responseFormat } = checkedFields<PromptParams>(
      params,
      'the parameters of a call',
    );
    const ofProviders = Object.values(asRecord(providerOptions) ?? {});
    if (warnIfServerHeld(logger, ...ofProviders)) return params;
    let takeUsage: CompactedCall['takeUsage'];
    let changedFrom = 0;
    const prompt = await compact(withSettledResults(params.prompt), {
      ...describeModel(model, providerOptions),
      signal: abortSignal,
      overheadTokens: overheadOf(tools, responseFormat),
      cacheTtlMs: cacheTtlIn({ providerOptions }),
      refusal,
      compactByProvider: compactionByModel(modelCall, ignoring),
      answerUsage: (take) => (takeUsage = take),
      keepsCacheBefore: (index) => (changedFrom = index),
    });
    const marked = withCacheMarkBefore(model, { providerOptions, tools }, prompt, changedFrom);
    const sent = isSameList(marked, params.prompt) ? params : { ...params, prompt: marked };
    calls.set(sent, { modelCall: { model, params }, prompt, takeUsage });
    COMPACTED_PROMPTS.add(params.prompt);
    return sent;
  }

  async function reporting<Result>(
    kind: keyof AnsweringModel,
    answerIt: () => PromiseLike<Result>,
    params: object,
    model: ModelReference,
  ): Promise<Result> {
    let answer: Result;
    let call = calls.get(params);
    try {
      answer = await answerIt();
    } catch (thrown) {
      if (call === undefined) {
        compactor.reportRefusal(thrown, describeModel(model).modelName);
        throw thrown;
      }
      if (!isFixableByCompacting(thrown)) throw thrown;
      const again = await compactParams(call.modelCall, thrown);
      const { prompt } = call;
      call = calls.get(again);
      if (call !== undefined && isSameList(call.prompt, prompt)) throw thrown;
      answer = (await (model as unknown as AnsweringModel)[kind](again)) as Result;
    }
    return passingUsage(answer, (usage) => call?.takeUsage?.(usage));
  }
}

/** A call as it was given, its compacted prompt, and the callback for the usage of its answer. */
interface CompactedCall {
  readonly modelCall: ModelCall<PromptParams>;
  readonly prompt: readonly SdkMessage[];
  readonly takeUsage: ((usage: CompactCall) => void) | undefined;
}

/** A model that can be called. */
export interface AnsweringModel {
  readonly doGenerate: (call: object) => PromiseLike<unknown>;
  readonly doStream: (call: object) => PromiseLike<unknown>;
}

const IGNORED =
  'the model has answered as if it was asked for none: that takes @ai-sdk/openai 4, and a provider that knows it.';

/**
 * Returns a function that has the call's model compact messages: it repeats the call without streaming, with the compaction trigger, and
 * with only the leading system messages and the messages to compact. It rejects with the reason if the model does not support that.
 *
 * @param ignoring models that have ignored the trigger and answered normally; they are not asked again, because an answer costs money
 */
function compactionByModel(
  { model, params }: ModelCall<PromptParams>,
  ignoring: Set<string>,
): CompactMessages {
  return async (messages, signal) => {
    const target = asRecord(model) ?? {};
    // The SDK names the options after the provider of the Responses API.
    const name = optionsNameOf(target);
    const fullName = `${String(target['provider'])}/${String(target['modelId'])}`;
    if (ignoring.has(fullName)) throw compactionFailed(IGNORED);
    const options = asRecord(params.providerOptions) ?? {};
    const providerOptions = { ...asRecord(options['openai']), ...asRecord(options[name]) };
    const systemEnd = params.prompt.findIndex(({ role }) => role !== 'system');
    const call = {
      ...params,
      prompt: [...params.prompt.slice(0, systemEnd), ...messages],
      providerOptions: { ...options, [name]: { ...providerOptions, compactionTrigger: true } },
      abortSignal: signal,
    };
    const answer = asRecord(await (target as unknown as AnsweringModel).doGenerate(call));
    const parts = asArray(answer?.['content']).map(asRecord);
    const compaction = parts.findLast((part) => part?.['kind'] === 'openai.compaction');
    if (compaction === undefined && parts.length > 0) {
      ignoring.add(fullName);
      throw compactionFailed(IGNORED);
    }
    const { kind, providerMetadata } = compaction ?? {};
    const part = { type: 'custom', kind, providerOptions: providerMetadata };
    return compactedTo(
      isFilled(providerMetadata) ? { role: 'assistant', content: [part] } : undefined,
    );
  };
}

/** @throws CompressionExecutionError if the AI SDK cannot carry the model's compactions */
function optionsNameOf({ provider, specificationVersion: version }: JsonRecord): string {
  const known = asText(provider) ?? 'a model without a provider';
  if (known.includes('anthropic'))
    throw compactionFailed(
      "the AI SDK's package for Anthropic loses what a compaction is signed with; `compactingFetch` of ctxfold/anthropic does not.",
    );
  const name = ['azure', 'openai'].find((each) => known.includes(each));
  if (name === undefined || !known.endsWith('.responses'))
    throw compactionFailed(
      `the AI SDK carries compactions of OpenAI's Responses API alone, and this is ${known}.`,
    );
  if (version === 'v2' || version === 'v3')
    throw compactionFailed('the package for OpenAI knows no compaction before @ai-sdk/openai 4.');
  return name;
}

/** Whether a compaction part has content. */
function isFilled(providerMetadata: unknown): boolean {
  const providers = Object.values(asRecord(providerMetadata) ?? {}).map(asRecord);
  return providers.some((data) => asFilledText(data?.['encryptedContent']) !== undefined);
}

/**
 * Passes on the usage of an answer once it is known. Returns the same answer, or for a stream one whose stream also reads the usage.
 * Never throws: usage is optional and the answer is there, so a failure to read usage must not fail the call.
 */
export function passingUsage<Answer>(answer: Answer, pass: (usage: CompactCall) => void): Answer {
  try {
    return readingUsage(answer, pass);
  } catch {
    return answer;
  }
}

function readingUsage<Answer>(answer: Answer, pass: (usage: CompactCall) => void): Answer {
  const { usage, content, stream } = asRecord(answer) ?? {};
  if (!(stream instanceof ReadableStream)) {
    pass(usageOf(usage, content));
    return answer;
  }
  const parts: unknown[] = [];
  const reading = new TransformStream<unknown, unknown>({
    transform: (part, controller) => {
      const { type, providerExecuted, usage: reported, error } = asRecord(part) ?? {};
      if (providerExecuted === true) parts.push(part);
      if (type === 'error' && isFixableByCompacting(error)) pass({ refusal: error });
      else if (type === 'finish') pass(usageOf(reported, parts));
      controller.enqueue(part);
    },
  });
  return { ...answer, stream: stream.pipeThrough(reading) };
}

function usageOf(usage: unknown, parts: unknown): CompactCall {
  if (hasServerCalls(parts)) return {};
  const { inputTokens, cachedInputTokens } = asRecord(usage) ?? {};
  const input = asRecord(inputTokens);
  return input === undefined
    ? reportedUsage(inputTokens, cachedInputTokens, undefined)
    : reportedUsage(input['total'], input['cacheRead'], input['cacheWrite']);
}
