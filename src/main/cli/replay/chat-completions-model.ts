// A model behind an HTTP interface in the style of OpenAI's chat completions, as a model object that
// `fromLanguageModel` takes. One request per call: retries and deadlines are that function's.

import type { LanguageModel, LanguageModelCall } from '../../../index.js';

/** Where the model is, and what it is asked as. */
export interface ChatCompletionsOptions {
  /** What `/chat/completions` is appended to. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token. No error holds it, even if the server sends it back. */
  readonly apiKey?: string | undefined;
}

/** A request that was not answered as it should be, in the shape that retries are decided by. */
export class ChatCompletionsError extends Error {
  /** Status of the response; `undefined` when there was none. */
  readonly statusCode: number | undefined;
  /** By names in lower case. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly isRetryable: boolean;

  constructor(message: string, response: Response | undefined, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ChatCompletionsError';
    this.statusCode = response?.status;
    this.responseHeaders = Object.fromEntries(response?.headers ?? []);
    this.isRetryable = response === undefined || response.ok || isBusy(response.status);
  }
}

/** Makes the model object. It connects to nothing before it is asked. */
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
    // The session goes to the server that was named and to no other.
    redirect: 'manual',
    signal: abortSignal,
  }).catch((error: unknown) => {
    abortSignal.throwIfAborted();
    return fail(`no connection to ${new URL(url).host} (${reasonOf(error)})`, undefined, error);
  });
  const body = await response.text().catch((error: unknown) => {
    abortSignal.throwIfAborted();
    return fail('the connection broke off in the middle of the answer', response, error);
  });
  const document = parseJson(body);
  if (!response.ok) return fail(errorOf(document) ?? 'the server says no more', response);
  return (
    answerOf(document) ??
    fail(errorOf(document) ?? 'the answer is no chat completion in JSON', response)
  );
}

function textOf(content: LanguageModelCall['prompt'][number]['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

type Fields = Readonly<Record<string, unknown>>;

/** The first choice as an answer of specification v3; `undefined` when there is none. */
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
    finishReason: { unified: unifiedReason(finishReason), raw: finishReason },
    usage: { inputTokens: { total: inputTokens }, outputTokens: { total: outputTokens } },
  };
}

function unifiedReason(finishReason: unknown): string {
  switch (finishReason) {
    case 'stop':
    case 'length':
    case 'error':
      return finishReason;
    case 'content_filter':
      return 'content-filter';
    case 'tool_calls':
    case 'function_call':
      return 'tool-calls';
    default:
      return 'other';
  }
}

/** What the server says went wrong: `{"error": {"message": …}}`, or `{"error": …}`. */
function errorOf(document: unknown): string | undefined {
  const { error } = fieldsOf(document);
  const message = typeof error === 'string' ? error : fieldsOf(error)['message'];
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** `ECONNREFUSED` and the like: what fetch throws says no more than that it failed, its cause does. */
function reasonOf(error: unknown): string {
  const { cause, message } = fieldsOf(error);
  const { code, message: causeMessage } = fieldsOf(cause);
  const reason = [code, causeMessage, message].find((text) => typeof text === 'string');
  return reason ?? 'unknown reason';
}

function isBusy(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function withoutKey(message: string, apiKey: string | undefined): string {
  return apiKey === undefined ? message : message.replaceAll(apiKey, '[key]');
}
