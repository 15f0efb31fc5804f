// The adapter for Gemini's API as a `fetch`, for every client that accepts one.

import type { Compactor } from '../../main/compactor.js';
import { createCompactingFetch } from '../conversation/create-compacting-fetch.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { contentsCompactor } from './contents-compactor.js';

/**
 * Returns a `fetch` for clients of Gemini, at Google's own API or at Vertex AI, of any SDK that accepts one:
 *
 * ```ts
 * const ai = new GoogleGenAI({ apiKey, httpOptions: { fetch: compactingFetch(compactor) } });
 * ```
 *
 * It compacts the contents of each request, streamed or not, as `contentsCompactor` does, and reads the usage from each answer: also
 * in chats (`ai.chats.create`) and automatic function calling (`CallableTool`, `mcpToTool`), whose histories do not change. With
 * `cachedContent`, the server keeps a part of the history, so nothing is compacted; a warning says so once. Do not combine it with
 * another adapter for the same model. `onError` says what happens to a call whose compaction fails.
 *
 * `@google/genai` takes a `fetch` since 2.23; earlier versions ignore it. With one, it does not lift the time limit of Node, which
 * ends a request after 300 seconds without a byte: stream longer answers, or pass a `send` without that limit.
 *
 * @param send sends the requests @default the global `fetch`
 * @throws RangeError naming each invalid option.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  const contents = { compact: contentsCompactor(compactor, options) };
  return createCompactingFetch({ contents }, send, loggerOf(compactor, options));
}
