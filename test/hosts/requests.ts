// The figures of a host session's requests: how much was sent, and how often a request did not start like the previous one.

import type { AnsweredRequest } from '../../examples/support/scripted-provider.js';
import { asArray, asRecord } from '../../src/shared/json.js';

/** The figures of one session. */
export interface RequestFigures {
  readonly requests: number;
  /** Requests refused by the provider's rules. */
  readonly refused: number;
  /** Characters of all bodies, divided by 4. */
  readonly inputTokens: number;
  /** Input tokens at usual cache prices: what a request repeats of the messages that the previous one had cached costs a tenth. */
  readonly pricedTokens: number;
  /** Tokens of the largest request. */
  readonly largestTokens: number;
  /** Requests that did not start like the previous one. */
  readonly rewrites: number;
  /** Rewrites that did not shorten the common part, so that no edit explains them. */
  readonly unexplainedRewrites: number;
}

/**
 * The instruction with which Claude Code and Copilot request a summary, in a request that is otherwise like the previous
 * one.
 */
const SUMMARIZES =
  /Respond with TEXT ONLY\. Do NOT call any tools|create a detailed summary of the conversation so far/;

/** Whether a request is the agent's own. Requests for titles and the like have no tools. */
export function isAgentRequest({ body }: Pick<AnsweredRequest, 'body'>): boolean {
  const last = JSON.stringify(asArray(body['messages']).slice(-1));
  return asArray(body['tools']).length > 0 && !SUMMARIZES.test(last);
}

export function measureRequests(requests: readonly AnsweredRequest[]): RequestFigures {
  const own = requests.filter(isAgentRequest);
  const sent = own.map(({ body }) => messagesOf(body));
  const rewritten = sent.slice(1).filter((now, at) => firstOther(sent[at] ?? [], now) !== -1);
  const unexplained = sent.slice(1).filter((now, at) => !isExplained(sent[at] ?? [], now));
  const tokens = own.map(({ body }) => Math.ceil(JSON.stringify(body, withoutMetadata).length / 4));
  return {
    requests: own.length,
    refused: own.filter(({ status }) => status === 400).length,
    inputTokens: tokens.reduce((sum, count) => sum + count, 0),
    pricedTokens: tokens.reduce((sum, count, at) => {
      const [former] = own.slice(at - 1, at);
      const read = former === undefined ? 0 : readShare(cachedMessages(former), sent[at] ?? []);
      return sum + Math.round(count * (1 - 0.9 * read));
    }, 0),
    largestTokens: Math.max(0, ...tokens),
    rewrites: rewritten.length,
    unexplainedRewrites: unexplained.length,
  };
}

function firstOther(before: readonly string[], now: readonly string[]): number {
  return before.findIndex((message, at) => message !== now[at]);
}

/** Anthropic caches up to the last mark; the others cache every prompt. */
function cachedMessages({ api, body }: AnsweredRequest): readonly string[] {
  const messages = messagesOf(body);
  if (api !== 'anthropic') return messages;
  const marked = asArray(body['messages']).findLastIndex((message) =>
    JSON.stringify(message).includes('"cache_control"'),
  );
  return messages.slice(0, marked + 1);
}

/** The share of a request that the cache has from the previous one. */
function readShare(before: readonly string[], now: readonly string[]): number {
  const first = firstOther(before, now);
  const kept = now.slice(0, first === -1 ? before.length : first);
  return lengthOf(kept) / Math.max(1, lengthOf(now));
}

/**
 * Whether nothing was rewritten, the client summarized its history, or what remains of the previous request has become
 * shorter.
 */
function isExplained(before: readonly string[], now: readonly string[]): boolean {
  const first = firstOther(before, now);
  if (first === -1 || now[first]?.includes(SUMMARY_MARK) === true) return true;
  const end =
    now.length < before.length
      ? now.findLastIndex((message) => before.includes(message)) + 1
      : before.length;
  return lengthOf(now.slice(first, end)) < lengthOf(before.slice(first));
}

function lengthOf(messages: readonly string[]): number {
  return messages.reduce((sum, { length }) => sum + length, 0);
}

/** Part of every summary by the scripted model. */
export const SUMMARY_MARK = 'state_snapshot';

/** Part of a message that OpenClaw appends to each request and omits from the next. */
const PASSING = 'BEGIN_OPENCLAW_INTERNAL_CONTEXT';

/**
 * The messages without cache marks, which move, without content for one call only, and without `null` fields, which hosts
 * omit later.
 */
function messagesOf(body: AnsweredRequest['body']): readonly string[] {
  const messages = body['messages'] ?? body['input'] ?? body['contents'];
  return asArray(messages)
    .map((message) => JSON.stringify(message, withoutMarks))
    .filter((message) => !message.includes(PASSING));
}

/** Codex's metadata of items for its own provider, which no model reads. */
const METADATA = 'internal_chat_message_metadata_passthrough';

function withoutMetadata(key: string, value: unknown): unknown {
  return key === METADATA ? undefined : value;
}

function withoutMarks(_key: string, value: unknown): unknown {
  if (value === null) return undefined;
  const record = asRecord(value);
  if (record === undefined || !('cache_control' in record)) return value;
  const { cache_control: _, ...rest } = record;
  return rest;
}
