// A `fetch` that compacts the list of messages in the bodies of requests, and reads reported usage from the answers. Changes no other
// field, no other request and no answer.

import type { Logger } from '../../main/host/logger.js';
import { modelOfRequest } from '../../main/models/model-name.js';
import { asRecord, isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { HISTORY_LISTS, isHeld } from '../format/history-lists.js';
import { SERVER_HELD } from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { isSameList } from '../format/same-value.js';
import type { CompactCall } from '../request/adapter-options.js';
import { overheadOf } from '../request/request-overhead.js';
import { editingFetch, sendAtMostTwice, withBody } from './editing-fetch.js';
import type { SendEdited, TextRequest } from './editing-fetch.js';
import { readingUsage } from './reading-usage.js';
import { warnOnce } from './warn-of-failure.js';

type Fetch = typeof globalThis.fetch;
type ListKey = keyof typeof HISTORY_LISTS;

/** How the lists under one key are compacted. */
export interface ListCompaction {
  /** A `MessageCompactor`; only it knows the type of the messages. */
  readonly compact: (messages: readonly never[], call: CompactCall) => Promise<readonly object[]>;
  /**
   * Returns a function that has the provider compact.
   *
   * @param url of the request
   * @param fields its fields besides the list
   */
  readonly byProvider?: (ask: Ask, url: string, fields: JsonRecord) => CompactMessages;
}

/** Returns a function that posts bodies to an address, with the headers of the request that is compacted, and parses the answers. */
type Ask = (
  url: string,
) => (body: object, given?: { readonly signal?: AbortSignal }) => Promise<unknown>;

/** A request with a history: its parsed body, the list in it, and the other fields. */
interface HistoryRequest {
  readonly body: JsonRecord;
  readonly list: readonly never[];
  readonly besides: JsonRecord;
}

/**
 * Creates the `fetch` of an adapter.
 *
 * @param compactions key of the list in the body → how it is compacted; other lists are not
 * @param send sends the requests
 */
export function createCompactingFetch(
  compactions: Partial<Record<ListKey, ListCompaction>>,
  send: Fetch,
  logger: Logger,
): Fetch {
  const lists = Object.entries(compactions) as [ListKey, ListCompaction][];
  const sendCompacted: SendEdited = async (url, request, sendText) => {
    const path = url.replace(/[?#].*/s, '');
    const found = lists.find(([name]) => HISTORY_LISTS[name].path.test(path));
    const read = found && historyIn(found[0], request);
    if (found === undefined || read === undefined) return sendText(url, request);
    const [key, { compact, byProvider }] = found;
    const { body, list, besides } = read;
    if (isHeld(HISTORY_LISTS[key].heldBy, besides)) {
      warnOnce(logger, SERVER_HELD);
      return sendText(url, request);
    }
    let takeUsage: ((usage: CompactCall) => void) | undefined;
    const compacted = async (refusal?: string): Promise<TextRequest> => {
      const sent = await compact(list, {
        signal: request.signal ?? undefined,
        modelName: modelOfRequest(path, besides),
        overheadTokens: overheadOf(...Object.values(besides)),
        answerUsage: (take) => (takeUsage = take),
        cacheTtlMs: cacheTtlIn(besides),
        refusal,
        compactByProvider: byProvider?.(asking(sendText, request), url, besides),
      });
      return isSameList(sent, list)
        ? request
        : withBody(request, JSON.stringify({ ...body, [key]: sent }));
    };
    const { response } = await sendAtMostTwice(compacted, (edited) => sendText(url, edited));
    return readingUsage(response, (usage) => takeUsage?.(usage));
  };
  return editingFetch(sendCompacted, send, logger);
}

function historyIn(key: ListKey, request: TextRequest): HistoryRequest | undefined {
  if (request.method?.toUpperCase() !== 'POST') return undefined;
  const body = asRecord(tryParseJson(request.body)) ?? {};
  const { [key]: list, ...besides } = body;
  return Array.isArray(list) && list.length > 0 && list.every(isRecord)
    ? { body, list: list as never[], besides }
    : undefined;
}

function asking(send: Parameters<SendEdited>[2], request: TextRequest): Ask {
  return (url) => async (body, given) => {
    const signal = given?.signal ?? request.signal ?? null;
    const answer = await send(url, { ...withBody(request, JSON.stringify(body)), signal });
    if (answer.ok) return answer.json();
    throw Object.assign(new Error(`status ${answer.status}`), { status: answer.status });
  };
}
