// The adapter for OpenAI's APIs as a `fetch`, for every client that accepts one: compacts the messages in the bodies of requests, and
// reads reported usage from the answers. Changes no other field, no other request and no answer.

import type { Compactor } from '../../main/compactor.js';
import { asRecord, asText, isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import { warnIfServerHeld } from '../conversation/warn-of-failure.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { isSameList } from '../format/same-value.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { editingFetch, sendAtMostTwice, withBody } from '../conversation/editing-fetch.js';
import type { SendEdited, TextRequest } from '../conversation/editing-fetch.js';
import { readingUsage } from '../conversation/reading-usage.js';
import { checkedFields } from '../request/call-arguments.js';
import { overheadOf } from '../request/request-overhead.js';
import { chatCompactor } from './chat-compactor.js';
import { HISTORY_PATHS } from './history-paths.js';
import { inputCompactor } from './input-compactor.js';
import { providerCompaction } from './provider-compaction.js';

type Fetch = typeof globalThis.fetch;

/** A request with a history: its parsed body, the list in it, and the other fields. */
interface HistoryRequest {
  readonly key: keyof typeof HISTORY_PATHS;
  readonly body: JsonRecord;
  readonly list: readonly object[];
  readonly besides: JsonRecord;
}

/**
 * Returns a `fetch` for clients of Chat Completions, the Responses API and Ollama's own API, of any SDK that accepts one:
 *
 * ```ts
 * const client = new OpenAI({ fetch: compactingFetch(compactor) });
 * ```
 *
 * It compacts the messages of each request, streamed or not, and reads the usage from each answer. A stream of Chat Completions has
 * usage only if the request asks for it (`stream_options: { include_usage: true }`); Ollama's own API reports none for the whole
 * prompt. Your list of messages does not change; keep appending to it. With `previous_response_id` or `conversation`, the server
 * keeps the items, so nothing can be compacted; a warning says so once.
 * With the strategy `provider`, it asks `/responses/compact`, or the Responses API by a compaction trigger. Do not combine it with
 * another adapter for the same model. `onError` says what happens to a call whose compaction fails.
 *
 * @param send sends the requests @default the global `fetch`
 * @throws RangeError naming each invalid option; reasoning can be stripped from Chat Completions only.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: Fetch = globalThis.fetch,
): Fetch {
  const { reasoning: _, ...ofItems } = checkedFields(options, 'adapter options');
  const compacts: Record<keyof typeof HISTORY_PATHS, MessageCompactor<object>> = {
    messages: chatCompactor<object>(compactor, options),
    input: inputCompactor(compactor, ofItems) as unknown as MessageCompactor<object>,
  };

  const logger = loggerOf(compactor, options);
  const sendCompacted: SendEdited = async (url, request, sendText) => {
    const read = historyIn(url, request);
    if (read === undefined) return sendText(url, request);
    const { key, body, list, besides } = read;
    if (warnIfServerHeld(logger, besides)) return sendText(url, request);
    let takeUsage: ((usage: CompactCall) => void) | undefined;
    const compacted = async (refusal?: string): Promise<TextRequest> => {
      const sent = await compacts[key](list, {
        signal: request.signal ?? undefined,
        modelName: asText(besides['model']),
        overheadTokens: overheadOf(...Object.values(besides)),
        answerUsage: (take) => (takeUsage = take),
        cacheTtlMs: cacheTtlIn(besides),
        refusal,
        compactByProvider:
          key === 'input' ? compactionBy(sendText, url, request, besides) : undefined,
      });
      return isSameList(sent, list)
        ? request
        : withBody(request, JSON.stringify({ ...body, [key]: sent }));
    };
    // Items of the Responses API keep their reasoning: OpenAI itself drops reasoning that has become invalid.
    const { response } = await sendAtMostTwice(compacted, (edited) => sendText(url, edited));
    return readingUsage(response, (usage) => takeUsage?.(usage));
  };
  return editingFetch(sendCompacted, send, logger);
}

function historyIn(url: string, request: TextRequest): HistoryRequest | undefined {
  if (request.method?.toUpperCase() !== 'POST') return undefined;
  const path = url.replace(/[?#].*/s, '');
  const key = HISTORY_PATHS.messages.test(path) ? 'messages' : 'input';
  if (!HISTORY_PATHS[key].test(path)) return undefined;
  const body = asRecord(tryParseJson(request.body)) ?? {};
  const { [key]: list, ...besides } = body;
  return Array.isArray(list) && list.length > 0 && list.every(isRecord)
    ? { key, body, list, besides }
    : undefined;
}

/** Returns a function that has the provider compact, by requests with the headers of the given one. */
function compactionBy(
  send: Parameters<SendEdited>[2],
  url: string,
  request: TextRequest,
  besides: JsonRecord,
): CompactMessages {
  const ask =
    (to: string) =>
    async (body: object, given?: { readonly signal?: AbortSignal }): Promise<unknown> => {
      const signal = given?.signal ?? request.signal ?? null;
      const answer = await send(to, { ...withBody(request, JSON.stringify(body)), signal });
      if (answer.ok) return answer.json();
      throw Object.assign(new Error(`status ${answer.status}`), { status: answer.status });
    };
  const compact = ask(url.replace(/\/responses\/?(?=[?#]|$)/, '/responses/compact'));
  const responses = { compact, create: ask(url) };
  return providerCompaction({ responses }, asText(besides['model']) ?? '', besides);
}
