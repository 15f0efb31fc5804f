import type { IncomingHttpHeaders } from 'node:http';

/** The APIs that the provider speaks. */
export type ProviderApi = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini';

/** What the model says in one answer, whatever the API. */
export interface ScriptedStep {
  readonly text?: string;
  /** Reasoning that comes first, signed in the manner of the provider. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
  }[];
}

/** A request as it came in. */
export interface IncomingRequest {
  readonly api: ProviderApi;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A request and the status that it was answered with. */
export interface AnsweredRequest extends IncomingRequest {
  readonly status: number;
}

export interface ScriptedProviderOptions {
  /**
   * What the model says: one step for every request that is answered with 200, in this order or as the
   * function tells by the request and the number of answers before it. Without a step the answer is a 400.
   */
  readonly script:
    | readonly ScriptedStep[]
    | ((request: IncomingRequest, at: number) => ScriptedStep | Promise<ScriptedStep>);
  /** Refuses a request: a text is the message of a 400 in the provider's own envelope. */
  readonly check?: (request: IncomingRequest) => string | undefined | Promise<string | undefined>;
  /** Whether Gemini's calls carry ids; the other APIs always give them. @default true */
  readonly callIds?: boolean;
}

export interface ScriptedProvider {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All requests in the order in which they were decided, also those that failed or were refused. */
  readonly requests: readonly AnsweredRequest[];
  /** Lets the next requests fail with this status, before anything is checked. @param times default 1 */
  failNext(status: number, times?: number): void;
  close(): Promise<void>;
}

/**
 * Starts a provider at a port of its own. It speaks Anthropic's Messages, OpenAI's Chat Completions and
 * Responses, and Gemini's `generateContent` and `streamGenerateContent`, streaming where a request asks
 * for it. Usage counts a token for every four characters.
 */
export declare function startScriptedProvider(
  options: ScriptedProviderOptions,
): Promise<ScriptedProvider>;
