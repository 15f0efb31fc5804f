// The same as the middleware for clients of the Messages API that are not Anthropic's own, and take a `fetch`: those of other SDKs.

import type { MiddlewareContext } from '@anthropic-ai/sdk';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { compactionMiddleware } from './compaction-middleware.js';

/** What is told about a request that no client of Anthropic's makes; what its answer reports stays unread. */
const CONTEXT = { parse: () => Promise.resolve(undefined) } as unknown as MiddlewareContext;

/**
 * Returns a `fetch` that does what `compactionMiddleware` does, for the SDKs that take one:
 *
 * ```ts
 * const anthropic = createAnthropic({ fetch: compactingFetch(compactor) });
 * ```
 *
 * So the strategy `provider` works where the SDK itself would lose a part of the block: it never sees it. Put no other adapter around
 * the model then. What a provider reports of a request is not read.
 *
 * @param send makes the requests @default the global `fetch`
 * @throws RangeError naming each option that is wrong.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  const middleware = compactionMiddleware(compactor, options);
  return (input, init) => {
    // Who hands over a request as an object has its body as a stream.
    if (typeof init?.body !== 'string' || input instanceof Request) return send(input, init);
    const request = { ...init, url: String(input) } as Parameters<typeof middleware>[0];
    const next = ({ url, ...rest }: typeof request): Promise<Response> => send(url, rest);
    return middleware(request, next, CONTEXT);
  };
}
