// The port to the model that writes summaries: what strategies ask of it, whatever SDK stands behind.

/** One request: a system prompt and a single user message. Tools are never offered. */
export interface SummarizerRequest {
  readonly system: string;
  readonly prompt: string;
  /** Tokens that the answer may have at most. */
  readonly maxOutputTokens: number;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
  /**
   * The same, in any process, for what asks the same of the same version of a conversation: 64 hexadecimal digits. For who has
   * requests answered elsewhere. @default it is nobody's but this request's
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

/** What came back. It is not trusted: strategies check it before they use it. */
export interface SummarizerResponse {
  readonly text: string;
  readonly finishReason: SummarizerFinishReason;
  readonly usage?: SummarizerUsage;
  /** Tool calls in the answer, in any shape: one of them is enough to reject it. */
  readonly toolCalls?: readonly unknown[];
}

/** A model that writes summaries. */
export interface Summarizer {
  /** Tokens of the model's own context window. Longer histories are summarized piece by piece. */
  readonly contextLimit: number;
  /** Time that one `generate` may take, retries included, in milliseconds; more than 24.8 days are 24.8 days. @default 300_000 */
  readonly timeoutMs?: number;
  /** Answers one request. What it throws becomes the cause of a `CompressionExecutionError`. */
  generate(request: SummarizerRequest): Promise<SummarizerResponse>;
}

/** Time that one `generate` may take when the summarizer does not say. */
export const DEFAULT_SUMMARIZER_TIMEOUT_MS = 300_000;

/** Whether this can be asked for summaries; a number that is NaN is none. What it answers is another matter. */
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
