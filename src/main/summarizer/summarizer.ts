// The port to the model that writes summaries, independent of any SDK.

/** One request: a system prompt and a single user message, without tools. */
export interface SummarizerRequest {
  readonly system: string;
  readonly prompt: string;
  /** Maximum tokens of the answer. */
  readonly maxOutputTokens: number;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
  /**
   * Equal, in every process, for requests about the same entries of the same version of a conversation: 64 hexadecimal digits.
   * For summarizers that delegate requests. @default the request is unique
   */
  readonly id?: string | undefined;
}

/** Why a model stopped. Anything but `stop`, `other` and `unknown` makes a summary unfit. */
export type SummarizerFinishReason =
  'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' | 'unknown';

export interface SummarizerUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** The answer. It is not trusted: strategies validate it. */
export interface SummarizerResponse {
  readonly text: string;
  readonly finishReason: SummarizerFinishReason;
  readonly usage?: SummarizerUsage;
  /** Tool calls in the answer, in any shape: a single one makes it unfit. */
  readonly toolCalls?: readonly unknown[];
}

/** A model that writes summaries. */
export interface Summarizer {
  /** Tokens of the model's own context window. Longer histories are summarized piece by piece. */
  readonly contextLimit: number;
  /** Timeout of one `generate` call including retries, in milliseconds; capped at 24.8 days. @default 300_000 */
  readonly timeoutMs?: number;
  /** Answers one request. What it throws becomes the cause of a `CompressionExecutionError`. */
  generate(request: SummarizerRequest): Promise<SummarizerResponse>;
  /**
   * Returns the answer to a request that any process has made before, or `undefined` if there is none yet. A session uses it to
   * take over the summary that another process has requested. If it rejects, so does the compression.
   * @default requests are not shared
   */
  answerTo?(id: string): Promise<SummarizerResponse | undefined>;
}

/** The abort reason of a request whose answer the next process of the conversation will look for: its job is not cancelled. */
export class LeftToOtherProcess extends Error {
  constructor() {
    super('The session was closed; another process may go on with it.');
  }
}

/** The default timeout of one `generate` call. */
export const DEFAULT_SUMMARIZER_TIMEOUT_MS = 300_000;

/** Whether a value has the shape of a summarizer; NaN is rejected. */
export function isSummarizer(value: unknown): value is Summarizer {
  if (typeof value !== 'object' || value === null) return false;
  const { generate, contextLimit, timeoutMs } = value as Readonly<Record<string, unknown>>;
  return (
    typeof generate === 'function' &&
    typeof contextLimit === 'number' &&
    contextLimit >= 0 &&
    (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs > 0))
  );
}
