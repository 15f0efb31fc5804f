// Compaction on demand by the provider of a LangChain model: a call of its own to that model, and how what comes back stands among
// messages. What an integration of LangChain cannot carry is said, and not asked for.

import type { BaseMessage } from '@langchain/core/messages';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { ProviderMessages } from '../message-format.js';
import {
  assertHoldsNoItems,
  compactedTo,
  COMPACTION_TRIGGER,
  compactionFailed,
  ITEM_PROVIDER_MESSAGES,
  newestCompaction,
} from '../provider-compaction.js';
import type { CompactMessages } from '../provider-compaction.js';
import { copyWith, makeMessage } from './message-class.js';
import { modelFacts } from './model-facts.js';

/** What is looked at of a request to a model. */
interface CompactedRequest {
  readonly model?: unknown;
  readonly tools?: readonly unknown[] | undefined;
  readonly modelSettings?: object | undefined;
  readonly systemMessage?: BaseMessage | undefined;
}

/** The integration sends what the metadata of a message list as the provider's output as it is. */
export const LANGCHAIN_PROVIDER_MESSAGES: ProviderMessages<BaseMessage> = {
  ...ITEM_PROVIDER_MESSAGES,
  write: itemMessage,
};

interface AskedModel {
  readonly bindTools: (tools: readonly unknown[], settings?: object) => AskedModel;
  readonly withConfig: (settings: object) => AskedModel;
  readonly invoke: (messages: readonly BaseMessage[], config: object) => Promise<BaseMessage>;
}

/** Keeps what is asked for from the stream of the agent. */
const TAGS = ['nostream', 'langsmith:nostream'];

/**
 * Returns what has messages compacted by the model of a request: with the same tools, settings and system message, and the trigger
 * at the end. Of a model that cannot, it rejects and says why.
 */
export function compactionByModel(request: CompactedRequest): CompactMessages {
  return async (messages, signal) => {
    const { tools = [], modelSettings: settings = {}, systemMessage } = request;
    const model = await namedModel(request.model);
    const { defaultOptions, modelKwargs } = assertCanCompact(model, { tools, ...settings });
    assertHoldsNoItems(settings, defaultOptions, modelKwargs);
    const given = messages as readonly BaseMessage[];
    const first = systemMessage === undefined || systemMessage.text === '' ? [] : [systemMessage];
    const bare = model as AskedModel;
    const ready = tools.length > 0 ? bare.bindTools(tools, settings) : bare.withConfig(settings);
    const input = [...first, ...given, itemMessage(COMPACTION_TRIGGER, given)];
    const answer = await ready.invoke(input, { signal, tags: TAGS, callbacks: [] });
    return compactedTo(newestCompaction(asRecord(answer.response_metadata)?.['output']));
  };
}

function itemMessage(item: unknown, among: readonly BaseMessage[]): BaseMessage {
  const metadata = { model_provider: 'openai', output: [item] };
  return copyWith(makeMessage('AIMessage', '', among), { response_metadata: metadata });
}

/** The model that stands behind a name, as in `createAgent({ model: 'openai:…' })`; any other as it is. */
async function namedModel(model: unknown): Promise<unknown> {
  const { _getModelInstance: get } = asRecord(model) ?? {};
  return typeof get === 'function' ? ((await get.call(model)) as unknown) : model;
}

/** @throws CompressionExecutionError for a model that cannot be asked */
function assertCanCompact(given: unknown, options: object): JsonRecord {
  const model = asRecord(given) ?? {};
  if (modelFacts(model).reasoning === 'strip-after-first-edit')
    throw compactionFailed(
      "LangChain's package for Anthropic loses what a compaction is signed with; `compactingFetch` of ctxfold/anthropic does not.",
    );
  // The integration tells by a method which of OpenAI's APIs a request goes to; others have none.
  const ask = model['_useResponsesApi'];
  if (typeof ask !== 'function' || !(ask.call(model, options) as unknown))
    throw compactionFailed(
      "LangChain carries compactions of OpenAI's Responses API alone (`useResponsesApi: true`).",
    );
  return model;
}
