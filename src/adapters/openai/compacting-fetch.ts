// The functions for Chat Completions and for the Responses API as a `fetch`, for clients of these APIs in other SDKs and frameworks.
// Changes no other request, and no answer.

import type { Compactor } from '../../main/compactor.js';
import { isMendable } from '../../main/models/model-limits.js';
import { asRecord, asText, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { warnOfIdling } from '../conversation/warn-of-failure.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { isServerHeld, SERVER_HELD } from '../format/provider-compaction.js';
import { isSameList } from '../format/same-value.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { reportedBy } from '../request/provider-usage.js';
import { overheadOf } from '../request/request-overhead.js';
import { chatCompactor } from './chat-compactor.js';
import { createItemCompactor } from './input-compactor.js';
import { responseItemFormat } from './response-item-format.js';

/** Chat Completions, and Ollama's own API. */
const CHAT_PATH = /\/(?:chat\/completions|api\/chat)\/?(?:[?#]|$)/;
/** Groq refuses what is too long with 413. */
const REFUSED: ReadonlySet<number> = new Set([400, 413]);
const RESPONSES_PATH = /\/responses\/?(?:[?#]|$)/;

interface RequestWithList {
  /** The member of the body that has the conversation. */
  readonly member: 'messages' | 'input';
  readonly list: readonly object[];
  readonly body: JsonRecord;
}

/**
 * Returns a `fetch` that compacts what a client sends to Chat Completions or to the Responses API of any provider, streamed or not:
 *
 * ```ts
 * const client = new OpenAI({ fetch: compactingFetch(compactor) });
 * ```
 *
 * A request that is refused as too long is compacted further and sent again, once. It reads the usage from each answer; a stream of
 * Chat Completions has it if the request asks for it (`stream_options: { include_usage: true }`). A conversation that the server
 * holds leaves as it came, which is said once. With the strategy `provider`, the fallback compresses. Do not combine it with another
 * adapter for the same model.
 *
 * @param send makes the requests @default the global `fetch`
 * @throws RangeError naming each invalid option.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  const compact = {
    messages: chatCompactor<object>(compactor, options),
    input: createItemCompactor<object>(compactor, responseItemFormat, {
      ...options,
      reasoning: undefined,
    }),
  };
  return async (input, init) => {
    const request = requestOf(input, init);
    if (request === undefined) return send(input, init);
    const { member, list, body } = request;
    if (isServerHeld(body)) {
      warnOfIdling(options.logger, SERVER_HELD);
      return send(input, init);
    }
    const { [member]: _, ...besides } = body;
    let takeUsage: ((usage: CompactCall) => void) | undefined;
    const compacted = async (refusal?: string): Promise<readonly object[]> =>
      compact[member](list, {
        modelName: asText(body['model']),
        signal: init?.signal ?? undefined,
        overheadTokens: overheadOf(...Object.values(besides)),
        cacheTtlMs: cacheTtlIn(besides),
        answerUsage: (take) => (takeUsage = take),
        refusal,
      });
    const sendList = async (sent: readonly object[]): Promise<Response> => {
      if (isSameList(sent, list)) return send(input, init);
      const headers = new Headers(init?.headers);
      headers.delete('content-length');
      return send(input, { ...init, headers, body: JSON.stringify({ ...body, [member]: sent }) });
    };
    const sent = await compacted();
    let response = await sendList(sent);
    const refusal = await refusalIn(response);
    if (isMendable(refusal, !isSameList(sent, list))) {
      const again = await compacted(refusal);
      if (!isSameList(again, sent)) response = await sendList(again);
    }
    return passingUsage(response, (usage) => takeUsage?.(usage));
  };
}

/** Returns what a provider says that refuses a request. The caller reads the answer itself. */
async function refusalIn(response: Response): Promise<string | undefined> {
  // Another implementation of `fetch` may return something else.
  if (!(response instanceof Response) || !REFUSED.has(response.status)) return undefined;
  return response
    .clone()
    .text()
    .catch(() => undefined);
}

function requestOf(
  input: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1],
): RequestWithList | undefined {
  // The body of a `Request` is a stream.
  if (typeof init?.body !== 'string' || input instanceof Request) return undefined;
  const url = String(input);
  const member = CHAT_PATH.test(url) ? 'messages' : 'input';
  if (member === 'input' && !RESPONSES_PATH.test(url)) return undefined;
  const body = asRecord(tryParseJson(init.body));
  const list = body?.[member];
  if (body === undefined || !Array.isArray(list) || list.length === 0) return undefined;
  return { member, list: list as readonly object[], body };
}

/** Returns an answer that passes its usage on, once, when its body has been read: some servers have it in each part of a stream. */
function passingUsage(response: Response, pass: (usage: CompactCall) => void): Response {
  if (!(response instanceof Response) || !response.ok || response.body === null) return response;
  const { body, headers } = response;
  const isStream = headers.get('content-type')?.includes('event-stream') === true;
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let usage: CompactCall | undefined;
  const read = (text: string): boolean => {
    if (!/"usage"\s*:\s*\{/.test(text)) return /^data:\s*\[DONE\]/.test(text);
    const answer = asRecord(tryParseJson(text.replace(/^data:/, '')));
    // The last event of the Responses API has the whole answer.
    const whole = asRecord(answer?.['response']);
    usage = reportedBy(whole ?? answer);
    return whole !== undefined;
  };
  const end = (): void => {
    if (usage !== undefined) pass(usage);
    usage = undefined;
  };
  const reading = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk);
      const text = decoder.decode(chunk, { stream: true });
      const lineEnd = isStream ? text.lastIndexOf('\n') : -1;
      if (lineEnd === -1) {
        parts.push(text);
        return;
      }
      const lines = parts.join('') + text.slice(0, lineEnd);
      parts = [text.slice(lineEnd + 1)];
      // Who reads the answer may not wait for the end of its body.
      for (const line of lines.split('\n')) if (read(line)) end();
    },
    flush: () => {
      read(parts.join(''));
      end();
    },
  });
  return new Response(body.pipeThrough(reading), response);
}
