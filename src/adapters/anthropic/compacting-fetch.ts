// The middleware as a `fetch`, for clients of the Messages API in other SDKs.

import type { MiddlewareContext } from '@anthropic-ai/sdk';
import type { Compactor } from '../../main/compactor.js';
import { asRecord, tryParseJson } from '../../shared/json.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { editingFetch } from '../conversation/editing-fetch.js';
import { compactionMiddleware } from './compaction-middleware.js';

/** The context for the middleware: its own `parse`, because there is no Anthropic client to parse the answer. */
const CONTEXT = { parse: parsedStart } as unknown as MiddlewareContext;

/** A stream begins with the event that has the usage. If that is not complete within this length, the stream is something else. */
const MAX_START_CHARACTERS = 100_000;

/** Parses a copy of an answer. Of a stream, returns the message in its first event. */
async function parsedStart(response: Response): Promise<unknown> {
  const copy = response.clone();
  const isStream = copy.headers.get('content-type')?.includes('event-stream') === true;
  if (!isStream) return tryParseJson(await copy.text());
  let text = '';
  for await (const chunk of copy.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [, event] = /^data:(.*)\r?\n/m.exec(text) ?? [];
    // Leaving the loop cancels the copy of the stream.
    if (event !== undefined) return asRecord(tryParseJson(event))?.['message'];
    if (text.length > MAX_START_CHARACTERS) return undefined;
  }
  return undefined;
}

/**
 * Returns a `fetch` that does what `compactionMiddleware` does, for SDKs that accept one:
 *
 * ```ts
 * const anthropic = createAnthropic({ fetch: compactingFetch(compactor) });
 * ```
 *
 * It knows the paths of Anthropic's API, and those of Google Cloud and Bedrock for Claude. A request that is signed with AWS
 * credentials is sent unchanged, and a warning says so once. The strategy `provider` works even with SDKs that would lose a part of
 * the compaction block, because they never see it. Do not combine it with another adapter for the same model.
 *
 * @param send sends the requests @default the global `fetch`
 * @throws RangeError naming each invalid option.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  const middleware = compactionMiddleware(compactor, options);
  return editingFetch(
    (url, request) =>
      middleware(
        { ...request, url } as Parameters<typeof middleware>[0],
        ({ url: to, ...rest }) => send(to, rest),
        CONTEXT,
      ),
    send,
    options.logger,
  );
}
