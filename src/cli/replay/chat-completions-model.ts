// A model behind OpenAI's chat completions protocol, as a model object for `fromLanguageModel`. One
// request per call: that function handles retries and deadlines.

import type { LanguageModel, LanguageModelCall } from '../../index.js';

/** The server and the model. */
export interface ChatCompletionsOptions {
  /** URL to which `/chat/completions` is appended. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token. Never part of an error, even if the server echoes it. */
  readonly apiKey?: string | undefined;
}

/** A failed request, with the properties by which `fromLanguageModel` decides on retries. Without a response, its cause tells. */
export class ChatCompletionsError extends Error {
  /** `undefined` if there was no response. */
  readonly statusCode: number | undefined;
  /** Keyed by lower-case names. */
  readonly responseHeaders: Readonly<Record<string, string>>;

  constructor(message: string, response: Response | undefined, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ChatCompletionsError';
    this.statusCode = response?.status;
    this.responseHeaders = Object.fromEntries(response?.headers ?? []);
  }
}

/** Creates the model object. Connects only when called. */
export function createChatCompletionsModel(options: ChatCompletionsOptions): LanguageModel {
  return {
    specificationVersion: 'v3',
    modelId: options.model,
    doGenerate: (call) => complete(options, call),
  };
}

async function complete(
  { baseUrl, model, apiKey }: ChatCompletionsOptions,
  { prompt, maxOutputTokens, abortSignal }: LanguageModelCall,
): Promise<unknown> {
  const fail = (message: string, response?: Response, cause?: unknown): never => {
    throw new ChatCompletionsError(withoutKey(message, apiKey), response, { cause });
  };
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      model,
      messages: prompt.map(({ role, content }) => ({ role, content: textOf(content) })),
      max_tokens: maxOutputTokens,
    }),
    // Do not follow redirects: they could send the session to another server.
    redirect: 'manual',
    signal: abortSignal,
  }).catch((error: unknown) => {
    abortSignal.throwIfAborted();
    return fail(`cannot connect to ${new URL(url).host} (${reasonOf(error)})`, undefined, error);
  });
  const document: unknown = await response.json().catch((error: unknown) => {
    abortSignal.throwIfAborted();
    if (error instanceof SyntaxError) return undefined;
    return fail('the connection was lost in the middle of the answer', response, error);
  });
  if (!response.ok) return fail(errorOf(document) ?? 'the server gave no reason', response);
  return (
    answerOf(document) ??
    fail(errorOf(document) ?? 'the answer is not a chat completion in JSON', response)
  );
}

function textOf(content: LanguageModelCall['prompt'][number]['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the first choice in the format of specification v3; `undefined` if there is none. */
function answerOf(document: unknown): unknown {
  const { choices, usage } = fieldsOf(document);
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const { message, finish_reason: finishReason } = fieldsOf(choice);
  if (typeof message !== 'object' || message === null) return undefined;
  const { content, tool_calls: toolCalls } = fieldsOf(message);
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = fieldsOf(usage);
  return {
    content: [
      ...(typeof content === 'string' ? [{ type: 'text', text: content }] : []),
      ...calls.map(() => ({ type: 'tool-call' })),
    ],
    // Specification v3 has the same words, but with hyphens.
    finishReason: { unified: String(finishReason).replace('_', '-'), raw: finishReason },
    usage: { inputTokens: { total: inputTokens }, outputTokens: { total: outputTokens } },
  };
}

/** Returns the server's error message: `{"error": {"message": …}}`, or `{"error": …}`. */
function errorOf(document: unknown): string | undefined {
  const { error } = fieldsOf(document);
  const message = typeof error === 'string' ? error : fieldsOf(error)['message'];
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Returns the reason of a failed fetch, such as `ECONNREFUSED`. Only the `cause` of the error that fetch throws has a reason. */
function reasonOf(error: unknown): string {
  const { cause, message } = fieldsOf(error);
  const { code, message: causeMessage } = fieldsOf(cause);
  const reason = [code, causeMessage, message].find((text) => typeof text === 'string');
  return reason ?? 'unknown reason';
}

function withoutKey(message: string, apiKey: string | undefined): string {
  return apiKey === undefined ? message : message.replaceAll(apiKey, '[key]');
}
