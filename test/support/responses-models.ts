// Models of OpenAI's Responses API as the packages for the AI SDK and for LangChain make them, of requests to a URL.

import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import type { ChatOpenAIFields } from '@langchain/openai';

const MODEL = 'gpt-6.2-sol';

type SdkModel = ReturnType<ReturnType<typeof createOpenAI>>;

/** One of `@ai-sdk/openai`, for AI SDK 7; it says of itself what is given in place of what it is. */
export function sdkModel(baseURL: string, facts: object = {}): SdkModel {
  const model = createOpenAI({ baseURL, apiKey: 'key' })(MODEL);
  return Object.create(model, Object.getOwnPropertyDescriptors(facts)) as SdkModel;
}

/** The fields of one of `@langchain/openai`; what is given goes into each request. */
export function chatFields(
  baseURL: string,
  modelKwargs: Readonly<Record<string, unknown>> = {},
): ChatOpenAIFields {
  const how = { useResponsesApi: true, zdrEnabled: true, maxRetries: 0, apiKey: 'key' };
  return { ...how, model: MODEL, configuration: { baseURL }, modelKwargs: { ...modelKwargs } };
}

/** One of `@langchain/openai`. */
export const chatModel = (...how: Parameters<typeof chatFields>): ChatOpenAI =>
  new ChatOpenAI(chatFields(...how));
