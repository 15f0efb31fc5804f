// Compaction inside an Anthropic client: replaces the messages in the bodies of requests to the Messages API, and reads reported
// usage from the responses. Changes no other field, no other request and no answer.

import type { Middleware } from '@anthropic-ai/sdk';
import type { Compactor } from '../../main/compactor.js';
import { refusesReasoning } from '../../main/models/model-limits.js';
import { modelOfRequest } from '../../main/models/model-name.js';
import { asText, isRecord, tryParseJson } from '../../shared/json.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';
import { refusalIn, sendAtMostTwice, withBody } from '../conversation/editing-fetch.js';
import { readingUsage } from '../conversation/reading-usage.js';
import { isSameList } from '../format/same-value.js';
import { overheadOf } from '../request/request-overhead.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import { warnOnce } from '../conversation/warn-of-failure.js';
import { withBreakpointBefore } from './cache-breakpoint.js';
import { cacheTtlOfRequest, CLAUDE_FORMAT } from './message-compactor.js';
import { withoutReasoning } from './message-param-format.js';
import type { AnthropicMessage } from './message-part.js';
import {
  beginsWithBlock,
  canCompact,
  compactionOnDemand,
  COMPACTION_BETA,
} from './provider-compaction.js';

type APIRequest = Parameters<Middleware>[0];

interface RequestBody {
  readonly [field: string]: unknown;
  readonly messages: readonly AnthropicMessage[];
}

/** A cached compaction, for retries with the same body. */
interface CompactedRequest {
  readonly body: string;
  readonly compacted: Promise<CompactedBody>;
}

interface CompactedBody {
  readonly body: string;
  /** Whether the messages start with a compaction by the provider, which requires the beta header. */
  readonly hasCompaction: boolean;
  /** Tells the conversation the usage that came with the answer. */
  readonly takeUsage?: ((usage: CompactCall) => void) | undefined;
}

/**
 * Returns a middleware for `new Anthropic({ middleware: [compactionMiddleware(compactor)] })`. It compacts the messages of each
 * request for a message, streamed or not, on every platform. Your list of messages does not change; keep appending to it.
 *
 * Token counting counts the messages as they were last sent and what follows, because the API refuses reasoning that an edit has
 * invalidated. Requests of a thread whose messages the server keeps are not compacted, so `toolRunner` needs `thread: false`; a
 * warning says so once. Message batches are not compacted either: use `messageCompactor` for the messages of each of their requests.
 * Put the middleware last in the list, after `betaRefusalFallbackMiddleware`, which writes bodies itself. `onError` says what happens
 * to a call whose compaction fails.
 *
 * @throws RangeError naming each invalid option.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options: AdapterOptions = {},
): Middleware {
  const compact = createMessageCompactor(compactor, CLAUDE_FORMAT, options);
  const logger = loggerOf(compactor, options);
  const requests = new WeakMap<object, CompactedRequest>();

  return async (request, next, context) => {
    const body = bodyOf(request, context.options?.body);
    if (body === undefined) return next(request);
    if (isRecord(body['thread'])) {
      warnOnce(logger, THREAD_WARNING);
      return next(request);
    }
    if (COUNT_PATH.test(request.url)) return countTokens(request, body, next);
    const { sent, response } = await sendAtMostTwice(
      (refusal) => compactedBody(body, refusal),
      (compacted) => next(withCompacted(request, compacted)),
    );
    const { takeUsage } = sent;
    const hasUsage = takeUsage !== undefined && !isRecord(body['context_management']);
    return hasUsage ? readingUsage(response, takeUsage) : response;

    /** Returns the compacted body, cached by the `body` object in the options of the request, which is the same in all attempts. */
    async function compactedBody(parsed: RequestBody, refusal?: string): Promise<CompactedBody> {
      const key = context.options?.body;
      const given = request.body as string;
      const earlier = isRecord(key) && refusal === undefined ? requests.get(key) : undefined;
      if (earlier?.body === given) return earlier.compacted;
      const compacted = compactBody(parsed, refusal);
      if (isRecord(key)) {
        requests.set(key, { body: given, compacted });
        compacted.catch(() => requests.delete(key));
      }
      return compacted;
    }

    async function compactBody(
      parsed: RequestBody,
      refusal: string | undefined,
    ): Promise<CompactedBody> {
      const { messages: given, ...besides } = parsed;
      let takeUsage: CompactedBody['takeUsage'];
      let changedFrom = 0;
      const modelName = modelOfRequest(request.url, parsed);
      const compacted = await compact(given, {
        signal: request.signal ?? undefined,
        modelName,
        overheadTokens: overheadOf(...Object.values(besides)),
        answerUsage: (take) => (takeUsage = take),
        keepsCacheBefore: (index) => (changedFrom = index),
        cacheTtlMs: cacheTtlOfRequest(parsed),
        reasoning: reasoningOfModel(modelName, parsed['thinking']),
        refusal,
        compactByProvider:
          canCompact(parsed) && MESSAGES_PATH.test(request.url)
            ? compactionOnDemand(parsed, (body, signal) =>
                next({ ...withCompacted(request, { body, hasCompaction: true }), signal }),
              )
            : undefined,
      });
      return { ...withMessages(parsed, compacted, changedFrom), takeUsage };
    }
  };

  /**
   * Counts messages as they were last sent, and what follows. If it is not known how they were sent, as after a restart, the API may
   * refuse reasoning: then they are counted without it.
   */
  async function countTokens(
    request: APIRequest,
    body: RequestBody,
    next: Parameters<Middleware>[1],
  ): Promise<Response> {
    const response = await next(withCompacted(request, await countedBody(request, body)));
    if (!refusesReasoning(await refusalIn(response))) return response;
    return next(withCompacted(request, withMessages(body, withoutReasoning(body.messages))));
  }

  async function countedBody(attempt: APIRequest, parsed: RequestBody): Promise<CompactedBody> {
    const { messages: given } = parsed;
    const modelName = modelOfRequest(attempt.url, parsed);
    const reasoning = reasoningOfModel(modelName, parsed['thinking']);
    const messages = await compact.asSent(given, { modelName, reasoning });
    if (isSameList(messages, given)) return { body: attempt.body as string, hasCompaction: false };
    return withMessages(parsed, messages);
  }
}

/** @param changedFrom the index of the first message that an edit has changed */
function withMessages(
  parsed: RequestBody,
  compacted: readonly AnthropicMessage[],
  changedFrom: number = 0,
): CompactedBody {
  // If the compaction is in the caller's own messages, the caller sets the beta header.
  const hasCompaction =
    beginsWithBlock(compacted) && !parsed.messages.includes(compacted[0] as AnthropicMessage);
  const messages = withBreakpointBefore(parsed, compacted, changedFrom);
  return { body: JSON.stringify({ ...parsed, messages }), hasCompaction };
}

/** Returns the body of a request for a message, or to count its tokens; `undefined` for any other request. */
function bodyOf(request: APIRequest, given: unknown): RequestBody | undefined {
  const { method, url, body: text }: Partial<Record<keyof APIRequest, unknown>> = request;
  if (asText(method)?.toUpperCase() !== 'POST' || typeof text !== 'string') return undefined;
  const path = asText(url) ?? '';
  const isCloud = CLOUD_PATH.test(path);
  if (!isCloud && !MESSAGES_PATH.test(path)) return undefined;
  const body = isRequestBody(given) ? given : undefined;
  // The caller's own objects are preferred to parsed ones: they are recognized without a deep comparison. But a middleware before this
  // one may have changed the text.
  const isOwn = body !== undefined && JSON.stringify(body) === text;
  const parsed = isOwn ? body : tryParseJson(text);
  if (!isRequestBody(parsed) || parsed.messages.length === 0) return undefined;
  // Bedrock serves other models' messages at the same path.
  return isCloud && parsed['anthropic_version'] === undefined ? undefined : parsed;
}

const THREAD_WARNING =
  'the server holds the messages of this thread, so that nothing can be compacted; give toolRunner `thread: false`';

const MESSAGES_PATH = /\/v1\/messages(?:\/count_tokens)?\/?(?:[?#]|$)/;
/** Paths of Google Cloud and Bedrock as they leave their clients. A middleware of Anthropic's SDK sees the paths above instead. */
const CLOUD_PATH = /(?::(?:streamR|r)awPredict|\/invoke(?:-with-response-stream)?)(?:[?#]|$)/;
const COUNT_PATH = /\/(?:count_tokens\/?|models\/count-tokens:rawPredict)(?:[?#]|$)/;

function isRequestBody(value: unknown): value is RequestBody {
  return isRecord(value) && Array.isArray(value['messages']);
}

function withCompacted(request: APIRequest, { body, hasCompaction }: CompactedBody): APIRequest {
  const edited = withBody(request, body);
  if (!hasCompaction || edited === request) return edited;
  const headers = new Headers(edited.headers);
  const betas = headers.get('anthropic-beta') ?? '';
  if (betas.includes(COMPACTION_BETA)) return edited;
  headers.set('anthropic-beta', betas === '' ? COMPACTION_BETA : `${betas},${COMPACTION_BETA}`);
  return { ...edited, headers };
}
