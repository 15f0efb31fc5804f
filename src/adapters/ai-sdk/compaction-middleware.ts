// The adapter for a single model of the AI SDK: a middleware that hands each prompt to the engine, also those of
// calls that have no `prepareStep`. Touches nothing of a call but its prompt.

import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { cacheTtlIn } from '../cache-marks.js';
import { checkedFields } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import { describeModel } from './anthropic-model.js';
import type { ModelReference } from './anthropic-model.js';
import { isSameList } from '../same-value.js';
import { compactionByModel } from './provider-compaction.js';
import type { SdkMessage } from './sdk-message.js';
import { PROMPT_FORMAT } from './sdk-message-format.js';

/** What is looked at of a call to a model. */
export interface ModelCall<Params> {
  readonly params: Params;
  readonly model: ModelReference;
}

/** What is looked at of the parameters of such a call. */
export interface PromptParams {
  readonly prompt: readonly SdkMessage[];
  readonly abortSignal?: AbortSignal | undefined;
  /** Says how long a prompt is to be cached. */
  readonly providerOptions?: object | undefined;
}

/** A `LanguageModelMiddleware` of AI SDK 6 and 7. */
export interface CompactionMiddleware {
  readonly specificationVersion: 'v3';
  /**
   * Returns the parameters with the prompt to send, or as they are when nothing is to be edited. Rejects with
   * `ContextWindowExceededError` when the prompt cannot be made to fit, and with the reason of its signal.
   */
  readonly transformParams: <Params extends PromptParams>(
    call: ModelCall<Params>,
  ) => Promise<Params>;
  /** Returns what the model answers; where it refused a prompt as too long and named its limit, that is remembered. */
  readonly wrapGenerate: <Result>(call: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly model: ModelReference;
  }) => Promise<Result>;
  /** The same for an answer that is streamed. */
  readonly wrapStream: <Result>(call: {
    readonly doStream: () => PromiseLike<Result>;
    readonly model: ModelReference;
  }) => Promise<Result>;
}

/** By compactor, the models that have left a request for a compaction aside. */
const DEAF = new WeakMap<Compactor, Set<string>>();

/**
 * Makes a middleware for `wrapLanguageModel`. It may serve many models and conversations: the AI SDK builds each
 * prompt anew, and the conversation is recognized by what its messages say. May be made anew as well: with
 * the same compactor and the same options, a conversation goes on in the session that it began in.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options: AdapterOptions = {},
): CompactionMiddleware {
  const compact = createMessageCompactor(compactor, PROMPT_FORMAT, options);
  const deaf = DEAF.get(compactor) ?? new Set();
  DEAF.set(compactor, deaf);
  return {
    specificationVersion: 'v3',
    transformParams: async (modelCall) => {
      const { model, params } = checkedFields(modelCall, 'a call to a model');
      const { abortSignal: signal } = checkedFields(params, 'the parameters of a call');
      const cacheTtlMs = cacheTtlIn({ providerOptions: params.providerOptions });
      const compactByProvider = compactionByModel(modelCall, deaf);
      const call = { ...describeModel(model), signal, cacheTtlMs, compactByProvider };
      const prompt = await compact(params.prompt, call);
      return isSameList(prompt, params.prompt) ? params : { ...params, prompt };
    },
    wrapGenerate: ({ doGenerate, model }) => learning(doGenerate, model),
    wrapStream: ({ doStream, model }) => learning(doStream, model),
  };

  /** A refusal that names the model's limit is remembered. */
  async function learning<Result>(
    ask: () => PromiseLike<Result>,
    model: ModelReference,
  ): Promise<Result> {
    try {
      return await ask();
    } catch (thrown) {
      compactor.reportRefusal(thrown, describeModel(model).modelName);
      throw thrown;
    }
  }
}
