// Models of OpenAI's Responses API at a URL, from the packages for the AI SDK and for LangChain.

import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import type { ChatOpenAIFields } from '@langchain/openai';

const MODEL = 'gpt-6.2-sol';

type SdkModel = ReturnType<ReturnType<typeof createOpenAI>>;

/** A model of `@ai-sdk/openai` for AI SDK 7; `facts` override its properties. */
export function sdkModel(baseURL: string, facts: object = {}): SdkModel {
  const model = createOpenAI({ baseURL, apiKey: 'key' })(MODEL);
  return Object.create(model, Object.getOwnPropertyDescriptors(facts)) as SdkModel;
}

/** The fields of a model of `@langchain/openai`, with additions to each request. */
export function chatFields(
  baseURL: string,
  modelKwargs: Readonly<Record<string, unknown>> = {},
): ChatOpenAIFields {
  const how = { useResponsesApi: true, zdrEnabled: true, maxRetries: 0, apiKey: 'key' };
  return { ...how, model: MODEL, configuration: { baseURL }, modelKwargs: { ...modelKwargs } };
}

/** A model of `@langchain/openai`. */
export const chatModel = (...how: Parameters<typeof chatFields>): ChatOpenAI =>
  new ChatOpenAI(chatFields(...how));
