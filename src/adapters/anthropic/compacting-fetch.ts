// The middleware as a `fetch`, for clients of the Messages API in other SDKs.

import type { Compactor } from '../../main/compactor.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { editingFetch } from '../conversation/editing-fetch.js';
import { compactionMiddleware } from './compaction-middleware.js';

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
    (url, request, sendText) =>
      middleware(
        { ...request, url } as Parameters<typeof middleware>[0],
        ({ url: to, ...rest }) => sendText(to, rest),
        {} as Parameters<typeof middleware>[2],
      ),
    send,
    loggerOf(compactor, options),
  );
}
