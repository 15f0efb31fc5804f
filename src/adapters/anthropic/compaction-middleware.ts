// Compaction inside an Anthropic client: replaces the messages in the body of a request to the Messages
// API on its way out. Touches no other field, no other request and no response.

import type { Middleware } from '@anthropic-ai/sdk';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { cacheTtlIn } from '../cache-marks.js';
import { messageCompactor } from './message-compactor.js';
import type { AnthropicMessage } from './message-param-format.js';
import { SILENT_LOGGER, safeLogger } from '../../main/host/logger.js';
import { asText, isRecord, tryParseJson } from '../../shared/json.js';
import {
  beginsWithBlock,
  canCompact,
  compactionOnDemand,
  COMPACTION_BETA,
} from './provider-compaction.js';
import { reasoningOfRequest } from './reasoning-of-request.js';
import { ReportedUsage } from './reported-usage.js';

type APIRequest = Parameters<Middleware>[0];

/** A body of the Messages API. */
interface RequestBody {
  readonly [field: string]: unknown;
  readonly messages: readonly AnthropicMessage[];
}

/** A request that was made ready before: an attempt that failed is made again with the same body. */
interface ReadyRequest {
  readonly body: string;
  readonly ready: Promise<ReadyBody>;
}

interface ReadyBody {
  readonly body: string;
  /** Whether it holds what the provider made of earlier messages. */
  readonly isCompacted: boolean;
}

/**
 * Returns a middleware for `new Anthropic({ middleware: [compactionMiddleware(compactor)] })`. Each
 * request for a message, streamed or not, on every platform, goes out with its messages compacted. Your
 * list of messages stays as it is; go on appending to it.
 *
 * What is not touched: counting tokens, message batches, and requests of a thread that the server holds,
 * so `toolRunner` needs `thread: false`; the logger is told once. Stands last in the list, behind `betaRefusalFallbackMiddleware`,
 * which writes bodies itself. What fails in a compaction becomes of the call as `onError` says.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function compactionMiddleware(
  compactor: Compactor,
  options: AdapterOptions = {},
): Middleware {
  const compact = messageCompactor<AnthropicMessage>(compactor, options);
  const usage = new ReportedUsage();
  const ready = new WeakMap<object, ReadyRequest>();
  // What a host's logger throws fails no call.
  const logger = options.logger === undefined ? SILENT_LOGGER : safeLogger(options.logger);
  let isThreadTold = false;

  return async (request, next, context) => {
    const body = bodyOf(request, context.options?.body);
    if (body === undefined) return next(request);
    if (isRecord(body['thread'])) {
      if (!isThreadTold) logger.warn(THREAD_WARNING);
      isThreadTold = true;
      return next(request);
    }
    const { messages } = body;
    const reported = usage.of(messages);
    const response = await next(withBody(request, await readyBody(request, body)));
    learnLimit(compactor, response, asText(body['model']));
    if (isRecord(body['context_management'])) return response;
    usage.note(messages, response, context);
    return response;

    /** Retries bring the object of the first attempt. */
    async function readyBody(attempt: APIRequest, parsed: RequestBody): Promise<ReadyBody> {
      const key = context.options?.body;
      const given = attempt.body as string;
      const former = isRecord(key) ? ready.get(key) : undefined;
      if (former?.body === given) return former.ready;
      const making = compactBody(attempt, parsed);
      if (isRecord(key)) {
        ready.set(key, { body: given, ready: making });
        making.catch(() => ready.delete(key));
      }
      return making;
    }

    async function compactBody(attempt: APIRequest, parsed: RequestBody): Promise<ReadyBody> {
      const compacted = await compact(parsed.messages, {
        signal: attempt.signal ?? undefined,
        modelName: typeof parsed['model'] === 'string' ? parsed['model'] : undefined,
        ...reported,
        cacheTtlMs: cacheTtlIn({ cache_control: parsed['cache_control'] }),
        reasoning: reasoningOfRequest(parsed['thinking']),
        compactByProvider: canCompact(parsed)
          ? compactionOnDemand(parsed, (body, signal) =>
              next({ ...withBody(attempt, { body, isCompacted: true }), signal }),
            )
          : undefined,
      });
      // One that the caller's messages hold comes with the caller's own beta.
      const isCompacted =
        beginsWithBlock(compacted) && !parsed.messages.includes(compacted[0] as AnthropicMessage);
      return { body: JSON.stringify({ ...parsed, messages: compacted }), isCompacted };
    }
  };
}

/** The body of a request for a message; undefined for any other request. */
function bodyOf(request: APIRequest, given: unknown): RequestBody | undefined {
  const { method, url, body: text }: Partial<Record<keyof APIRequest, unknown>> = request;
  if (asText(method)?.toUpperCase() !== 'POST' || typeof text !== 'string') return undefined;
  if (!MESSAGES_PATH.test(asText(url) ?? '')) return undefined;
  const body = isRequestBody(given) ? given : undefined;
  // The caller's own objects are recognized at once; a middleware before this one may have written others.
  const isOwn = body !== undefined && JSON.stringify(body) === text;
  const parsed = isOwn ? body : tryParseJson(text);
  if (!isRequestBody(parsed) || parsed.messages.length === 0) return undefined;
  return parsed;
}

/** A refusal that names the model's limit is remembered; nobody waits for that. */
function learnLimit(compactor: Compactor, response: unknown, modelName: string | undefined): void {
  if (!(response instanceof Response) || response.status !== 400) return;
  response
    .clone()
    .text()
    .then(
      (said) => compactor.reportRefusal(said, modelName),
      () => undefined,
    );
}

const THREAD_WARNING =
  'the server holds the messages of this thread, so that nothing can be compacted; give toolRunner `thread: false`';

const MESSAGES_PATH = /\/v1\/messages\/?(?:[?#]|$)/;

function isRequestBody(value: unknown): value is RequestBody {
  return isRecord(value) && Array.isArray(value['messages']);
}

function withBody(request: APIRequest, { body, isCompacted }: ReadyBody): APIRequest {
  if (body === request.body) return request;
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  const betas = headers.get('anthropic-beta') ?? '';
  if (isCompacted && !betas.includes(COMPACTION_BETA)) {
    headers.set('anthropic-beta', betas === '' ? COMPACTION_BETA : `${betas},${COMPACTION_BETA}`);
  }
  return { ...request, headers, body };
}
