// The adapter for OpenAI's APIs as a `fetch`, for every client that accepts one.

import type { Compactor } from '../../main/compactor.js';
import { asText } from '../../shared/json.js';
import { createCompactingFetch } from '../conversation/create-compacting-fetch.js';
import type { ListCompaction } from '../conversation/create-compacting-fetch.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { checkedFields } from '../request/call-arguments.js';
import { chatCompactor } from './chat-compactor.js';
import { inputCompactor } from './input-compactor.js';
import { providerCompaction } from './provider-compaction.js';

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
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  // Items of the Responses API keep their reasoning: OpenAI itself drops reasoning that has become invalid.
  const { reasoning: _, ...ofItems } = checkedFields(options, 'adapter options');
  const lists = {
    messages: { compact: chatCompactor(compactor, options) },
    input: {
      compact: inputCompactor(compactor, ofItems),
      byProvider: compactionBy,
    },
  };
  return createCompactingFetch(lists, send, loggerOf(compactor, options));
}

function compactionBy(
  ...[ask, url, fields]: Parameters<NonNullable<ListCompaction['byProvider']>>
): CompactMessages {
  const compact = ask(url.replace(/\/responses\/?(?=[?#]|$)/, '/responses/compact'));
  const responses = { compact, create: ask(url) };
  return providerCompaction({ responses }, asText(fields['model']) ?? '', fields);
}
