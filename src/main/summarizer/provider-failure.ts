// Classifies what a provider's SDK threw: whether to retry, and how long to wait first. Looks at shapes, not at classes.

import { SummarizerError } from '../../shared/errors.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { withoutContent } from '../host/ask-host.js';

/** A failed attempt. */
export interface ProviderFailure {
  readonly error: SummarizerError;
  readonly isRetryable: boolean;
  /** The delay that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Maximum depth of a chain of causes. */
const MAX_CAUSES = 5;

/** Codes of Node and undici for transient connection failures. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** Messages of `fetch` for transient connection failures. */
const NETWORK_MESSAGES: ReadonlySet<string> = new Set([
  'fetch failed',
  'failed to fetch',
  'network error',
  'terminated',
]);

/** Classifies what an attempt threw. */
export function readProviderFailure(thrown: unknown): ProviderFailure {
  if (thrown instanceof SummarizerError) {
    const isRetryable = thrown.code === 'SUMMARIZER_TIMEOUT';
    return { error: thrown, isRetryable, retryAfterMs: undefined };
  }
  const chain = causesOf(thrown);
  const statusCode = chain.map(statusOf).find((status) => status !== undefined);
  const isNetwork = statusCode === undefined && chain.some(isNetworkFailure);
  const isRetryable =
    isNetwork ||
    chain.some((link) => link['isRetryable'] === true) ||
    (statusCode !== undefined && isRetryableStatus(statusCode));
  const isUnreachable = isNetwork || (statusCode !== undefined && isBusyStatus(statusCode));
  const status = statusCode === undefined ? '' : ` with status ${statusCode}`;
  const error = new SummarizerError(
    `The summarizer's model could not answer${status}.`,
    isUnreachable ? 'SUMMARIZER_UNREACHABLE' : 'SUMMARIZER_FAILED',
    { statusCode, cause: withoutContent(thrown) },
  );
  return { error, isRetryable, retryAfterMs: retryAfter(chain) };
}

/** Requests that a provider rejected temporarily. */
function isBusyStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function isRetryableStatus(status: number): boolean {
  // A failure with a success status means a broken body, for example cut off by a proxy.
  return isBusyStatus(status) || (status >= 200 && status < 300);
}

function causesOf(thrown: unknown): readonly JsonRecord[] {
  const chain: JsonRecord[] = [];
  let link = asRecord(thrown);
  for (; link !== undefined && chain.length < MAX_CAUSES; link = asRecord(link['cause']))
    chain.push(link);
  return chain;
}

function statusOf(link: JsonRecord): number | undefined {
  return [link['statusCode'], link['status']].find((status) => typeof status === 'number');
}

function isNetworkFailure(link: JsonRecord): boolean {
  const { code, message } = link;
  if (typeof code === 'string' && NETWORK_CODES.has(code)) return true;
  return typeof message === 'string' && NETWORK_MESSAGES.has(message.toLowerCase());
}

function retryAfter(chain: readonly JsonRecord[]): number | undefined {
  for (const link of chain) {
    const headers = link['responseHeaders'] ?? link['headers'];
    const milliseconds = Number(headerOf(headers, 'retry-after-ms') ?? NaN);
    if (milliseconds >= 0) return milliseconds;
    const value = headerOf(headers, 'retry-after');
    if (value === undefined) continue;
    const delayMs = /^\d{1,9}$/.test(value)
      ? Number(value) * 1_000
      : Date.parse(value) - Date.now();
    if (!Number.isNaN(delayMs)) return Math.max(0, delayMs);
  }
  return undefined;
}

/** Reads a header from a `Headers` object, or from a record with lower-case keys. */
function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const value: unknown =
    headers instanceof Headers ? headers.get(name) : (headers as JsonRecord)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
