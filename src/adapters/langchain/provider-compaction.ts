// Compaction on demand by the provider of a LangChain model: an extra call of the model, whose answer becomes a message. Fails
// without a call if the integration cannot carry compactions.

import type { BaseMessage } from '@langchain/core/messages';
import { asRecord } from '../../shared/json.js';
import type { ProviderMessages } from '../format/message-format.js';
import {
  compactedTo,
  COMPACTION_TRIGGER,
  compactionFailed,
  ITEM_PROVIDER_MESSAGES,
  newestCompaction,
} from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { copyWith, makeMessage } from './message-class.js';
import { modelFacts } from './model-facts.js';

/** The fields of a model request that are used. */
interface CompactedRequest {
  readonly model?: unknown;
  readonly tools?: readonly unknown[] | undefined;
  readonly modelSettings?: object | undefined;
  readonly systemMessage?: BaseMessage | undefined;
}

/** Compactions are carried as output items in a message's metadata, which the integration for OpenAI sends unchanged. */
export const LANGCHAIN_PROVIDER_MESSAGES: ProviderMessages<BaseMessage> = {
  ...ITEM_PROVIDER_MESSAGES,
  write: itemMessage,
};

interface CallableModel {
  readonly bindTools: (tools: readonly unknown[], settings?: object) => CallableModel;
  readonly withConfig: (settings: object) => CallableModel;
  readonly invoke: (messages: readonly BaseMessage[], config: object) => Promise<BaseMessage>;
}

/** Tags that exclude the call from the agent's stream. */
const TAGS = ['nostream', 'langsmith:nostream'];

/**
 * Returns a function that has the request's model compact messages. It repeats the request's tools, settings and system message, with
 * the compaction trigger as the last item. It rejects with the reason if the model does not support that.
 */
export function compactionByModel(request: CompactedRequest): CompactMessages {
  return async (messages, signal, instructions = []) => {
    const { tools = [], modelSettings: settings = {}, systemMessage } = request;
    const model = await namedModel(request.model);
    assertCanCompact(model, { tools, ...settings });
    const given = [...instructions, ...messages] as readonly BaseMessage[];
    const first = systemMessage === undefined || systemMessage.text === '' ? [] : [systemMessage];
    const callable = model as CallableModel;
    const bound =
      tools.length > 0 ? callable.bindTools(tools, settings) : callable.withConfig(settings);
    const input = [...first, ...given, itemMessage(COMPACTION_TRIGGER, given)];
    const answer = await bound.invoke(input, { signal, tags: TAGS, callbacks: [] });
    return compactedTo(newestCompaction(asRecord(answer.response_metadata)?.['output']));
  };
}

function itemMessage(item: unknown, among: readonly BaseMessage[]): BaseMessage {
  const metadata = { model_provider: 'openai', output: [item] };
  return copyWith(makeMessage('AIMessage', '', among), { response_metadata: metadata });
}

/** Returns the instance of a model that was given by name, as in `createAgent({ model: 'openai:…' })`; any other model as it is. */
async function namedModel(model: unknown): Promise<unknown> {
  const { _getModelInstance: get } = asRecord(model) ?? {};
  return typeof get === 'function' ? ((await get.call(model)) as unknown) : model;
}

/** @throws CompressionExecutionError if LangChain cannot carry the model's compactions */
function assertCanCompact(given: unknown, options: object): void {
  const model = asRecord(given) ?? {};
  // `modelFacts` states a reasoning policy for Anthropic's models only.
  if (modelFacts(model).reasoning !== undefined)
    throw compactionFailed(
      "LangChain's package for Anthropic loses what a compaction is signed with; `compactingFetch` of ctxfold/anthropic does not.",
    );
  // The integration for OpenAI has a method that decides which API it uses; other integrations have no such method.
  const usesResponsesApi = model['_useResponsesApi'];
  if (typeof usesResponsesApi !== 'function' || !(usesResponsesApi.call(model, options) as unknown))
    throw compactionFailed(
      "LangChain carries compactions of OpenAI's Responses API alone (`useResponsesApi: true`).",
    );
}
