// What the requests of a host's session come to: how much was sent, and how often one did not begin as the one before did.

import type { AnsweredRequest } from '../../examples/support/scripted-provider.js';
import { asArray, asRecord } from '../../src/shared/json.js';

/** The figures of one session. */
export interface RequestFigures {
  readonly requests: number;
  /** Refused by the provider's rules. */
  readonly refused: number;
  /** Characters of all bodies, over 4. */
  readonly inputTokens: number;
  /** Input tokens at the usual price of a cache: what a request repeats of the one before at a tenth, all else at the full price. */
  readonly pricedTokens: number;
  /** Of the largest of them. */
  readonly largestTokens: number;
  /** Requests that began otherwise than the one before. */
  readonly rewrites: number;
  /** Those of them whose common part was no smaller for it: no edit tells why. */
  readonly unexplainedRewrites: number;
}

/** What Claude Code and Copilot have their history summarized with, in a request that is otherwise like the one before. */
const SUMMARIZES =
  /Respond with TEXT ONLY\. Do NOT call any tools|create a detailed summary of the conversation so far/;

/** Whether a request is one of the agent's: titles and such come without tools. */
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
      const read = at === 0 ? 0 : readShare(sent[at - 1] ?? [], sent[at] ?? []);
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

/** The share of a request's messages that a cache holds of the one before. */
function readShare(before: readonly string[], now: readonly string[]): number {
  const first = firstOther(before, now);
  const kept = now.slice(0, first === -1 ? before.length : first);
  return lengthOf(kept) / Math.max(1, lengthOf(now));
}

/** Whether nothing was rewritten, the client has summarized its history, or what is there of what was is shorter for it. */
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

/** In what the scripted model summarizes a client's history to. */
export const SUMMARY_MARK = 'state_snapshot';

/** What OpenClaw appends to each request, and leaves out of the next. */
const PASSING = 'BEGIN_OPENCLAW_INTERNAL_CONTEXT';

/** The messages without the marks of a cache, which move, without what is there for one call, and without what is `null`, which hosts leave out later. */
function messagesOf(body: AnsweredRequest['body']): readonly string[] {
  const messages = body['messages'] ?? body['input'] ?? body['contents'];
  return asArray(messages)
    .map((message) => JSON.stringify(message, withoutMarks))
    .filter((message) => !message.includes(PASSING));
}

/** What Codex tells its own provider of each item beside what a model reads. */
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
