import type { IncomingHttpHeaders } from 'node:http';

/** The APIs that the provider speaks. */
export type ProviderApi = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini';

/** One answer of the model, for any API. */
export interface ScriptedStep {
  readonly text?: string;
  /** Leading reasoning, with the provider's kind of signature. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
  }[];
}

/** A received request. */
export interface IncomingRequest {
  readonly api: ProviderApi;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A request and the status of its response. */
export interface AnsweredRequest extends IncomingRequest {
  readonly status: number;
}

export interface ScriptedProviderOptions {
  /**
   * The model's answers: one step for each request that is answered with 200, in order, or chosen by a function from
   * the request and the number of earlier answers. Without a step the response is a 400.
   */
  readonly script:
    | readonly ScriptedStep[]
    | ((request: IncomingRequest, at: number) => ScriptedStep | Promise<ScriptedStep>);
  /** Returns text to refuse a request with that message, as a 400 in the provider's error format. */
  readonly check?: (request: IncomingRequest) => string | undefined | Promise<string | undefined>;
  /** Whether Gemini's calls have ids; the other APIs' always do. @default true */
  readonly callIds?: boolean;
}

export interface ScriptedProvider {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All requests in the order of their responses, including failed and refused ones. */
  readonly requests: readonly AnsweredRequest[];
  /** Makes the next requests fail with this status, before any check. @param times default 1 */
  failNext(status: number, times?: number): void;
  close(): Promise<void>;
}

/**
 * Starts a provider on a free port. It implements Anthropic's Messages, OpenAI's Chat Completions and Responses, and
 * Gemini's `generateContent` and `streamGenerateContent`, with streaming on request. Usage counts one token per four
 * characters.
 */
export declare function startScriptedProvider(
  options: ScriptedProviderOptions,
): Promise<ScriptedProvider>;
