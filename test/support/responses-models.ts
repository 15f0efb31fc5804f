// Models of OpenAI's Responses API for the AI SDK and LangChain: those of `@ai-sdk/openai` 4 and `@langchain/openai`, where these are
// installed, beside ones that write and read as those do what tests of compactions say.

import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';

type Json = Readonly<Record<string, unknown>>;

/** By name, ways to make a model of requests to a URL. */
export type ModelsByName = readonly (readonly [
  name: string,
  make: (url: string, extra: Json) => unknown,
])[];

const MODEL = 'gpt-6.2-sol';

/** What an API refuses, as SDKs tell it. */
class Refusal extends Error {
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`refused with ${statusCode}`);
    this.statusCode = statusCode;
  }
}

async function post(
  url: string,
  body: Json,
  signal: AbortSignal | undefined,
): Promise<readonly Json[]> {
  const request = { method: 'POST', body: JSON.stringify({ model: MODEL, ...body }) };
  const response = await fetch(`${url}/responses`, { ...request, signal: signal ?? null });
  if (!response.ok) throw new Refusal(response.status);
  return ((await response.json()) as { readonly output: readonly Json[] }).output;
}

async function installed(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return (await import(/* @vite-ignore */ name).catch(() => {
    process.stderr.write(`${name} is not tested: it is not installed\n`);
  })) as Json | undefined;
}

const whereInstalled = (
  ...made: readonly (readonly [string, ModelsByName[0][1] | false])[]
): ModelsByName => made.flatMap(([name, make]) => (make === false ? [] : [[name, make] as const]));

interface Part extends Json {
  readonly providerOptions?: { readonly openai: Json };
}

/** The items of a message of a prompt. */
function itemsOfPrompt({ role, content }: Json): readonly Json[] {
  if (typeof content === 'string') return [{ role: 'developer', content }];
  const items = (content as readonly Part[]).map((part): Json => {
    const { itemId: id, encryptedContent, reasoningEncryptedContent } = part.providerOptions?.openai ?? {};
    switch (part['type']) {
      case 'custom':
        return { type: 'compaction', id, encrypted_content: encryptedContent };
      case 'reasoning':
        return { type: 'reasoning', id, encrypted_content: reasoningEncryptedContent, summary: [] };
      case 'tool-call':
        return { type: 'function_call', call_id: part['toolCallId'], name: part['toolName'], arguments: JSON.stringify(part['input']) };
      case 'tool-result':
        return { type: 'function_call_output', call_id: part['toolCallId'], output: (part['output'] as Json)['value'] };
      default:
        return { role, content: part['text'] };
    }
  }); // prettier-ignore
  return items;
}

function partOfItem({ type, id, encrypted_content: encryptedContent }: Json): Json {
  if (type !== 'compaction') return { type: 'text', text: 'fine' };
  const openai = { type, itemId: id, encryptedContent };
  return { type: 'custom', kind: 'openai.compaction', providerMetadata: { openai } };
}

interface Call {
  readonly prompt: readonly Json[];
  readonly tools: readonly Json[];
  readonly providerOptions: { readonly openai: Json };
  readonly abortSignal?: AbortSignal;
}

/** Writes and reads what `@ai-sdk/openai` 4 does. */
export const likeSdkModel = (url: string) => ({
  specificationVersion: 'v4',
  provider: 'openai.responses',
  modelId: MODEL,
  supportedUrls: {},
  doGenerate: async ({ prompt, tools, providerOptions, abortSignal }: Call) => {
    const { compactionTrigger: isAsked, ...own } = providerOptions.openai;
    const items = prompt.flatMap(itemsOfPrompt);
    const input = isAsked === true ? [...items, { type: 'compaction_trigger' }] : items;
    const output = await post(url, { ...own, tools, input }, abortSignal);
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const finishReason = { unified: 'stop' };
    return { content: output.map(partOfItem), finishReason, usage, warnings: [] };
  },
});

const sdk = await installed('@ai-sdk/openai');

/** Of the AI SDK 7. */
export const SDK_MODELS = whereInstalled(
  ['a model like that of @ai-sdk/openai', likeSdkModel],
  ['@ai-sdk/openai', sdk !== undefined && ((baseURL) => {
    const create = sdk['createOpenAI'] as (options: Json) => (model: string) => unknown;
    return create({ baseURL, apiKey: 'key' })(MODEL);
  })],
); // prettier-ignore

/** What tells of a message goes out as it stands in its metadata, where it does. */
function itemsOfMessage(message: BaseMessage): readonly Json[] {
  const { tool_call_id: callId } = message as unknown as Json;
  const { output } = message.response_metadata as { readonly output?: readonly Json[] };
  if (output !== undefined && output.length > 0) return output;
  const content = message.text;
  const role = { ai: 'assistant', system: 'developer', human: 'user' }[message.type as 'ai'];
  return callId === undefined
    ? [{ role, content }]
    : [{ type: 'function_call_output', call_id: callId, output: content }];
}

/** Writes and reads what `@langchain/openai` does. */
export class LikeChatOpenAI extends BaseChatModel {
  readonly url: string;
  readonly modelKwargs: Json;

  constructor(url: string, modelKwargs: Json) {
    super({ maxRetries: 0 });
    this.url = url;
    this.modelKwargs = modelKwargs;
  }

  override _llmType(): string {
    return 'openai';
  }

  _useResponsesApi(): boolean {
    return true;
  }

  override bindTools(tools: readonly unknown[]) {
    const listed = tools.map((tool) => ({ type: 'function', name: (tool as Json)['name'] }));
    return this.withConfig({ tools: listed } as object);
  }

  override async _generate(
    messages: BaseMessage[],
    { tools, signal }: this['ParsedCallOptions'] & { readonly tools?: unknown },
  ) {
    const body = { ...this.modelKwargs, tools, input: messages.flatMap(itemsOfMessage) };
    const output = await post(this.url, body, signal);
    const message = new AIMessage({ content: 'fine', response_metadata: { output } });
    return { generations: [{ text: 'fine', message }] };
  }
}

const langchain = await installed('@langchain/openai');

/** Of LangChain; what is given besides goes into each request. */
export const CHAT_MODELS = whereInstalled(
  ['a model like that of @langchain/openai', (url, extra) => new LikeChatOpenAI(url, extra)],
  ['@langchain/openai', langchain !== undefined && ((baseURL, modelKwargs) => {
    const { ChatOpenAI } = langchain as { readonly ChatOpenAI: new (fields: Json) => BaseChatModel };
    const how = { useResponsesApi: true, zdrEnabled: true, maxRetries: 0, apiKey: 'key' };
    return new ChatOpenAI({ ...how, model: MODEL, configuration: { baseURL }, modelKwargs });
  })],
); // prettier-ignore
