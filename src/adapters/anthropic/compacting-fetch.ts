// The middleware as a `fetch`, for clients of the Messages API in other SDKs.

import type { MiddlewareContext } from '@anthropic-ai/sdk';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { compactionMiddleware } from './compaction-middleware.js';

/** There is no Anthropic client to parse the answer, so its usage is not read. */
const CONTEXT = { parse: () => Promise.resolve(undefined) } as unknown as MiddlewareContext;

/**
 * Returns a `fetch` that does what `compactionMiddleware` does, for SDKs that accept one:
 *
 * ```ts
 * const anthropic = createAnthropic({ fetch: compactingFetch(compactor) });
 * ```
 *
 * With it, the strategy `provider` works with SDKs that would lose a part of the compaction block, because they never see it. Do not
 * combine it with another adapter for the same model. Reported usage is not read.
 *
 * @param send makes the requests @default the global `fetch`
 * @throws RangeError naming each invalid option.
 */
export function compactingFetch(
  compactor: Compactor,
  options: AdapterOptions = {},
  send: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  const middleware = compactionMiddleware(compactor, options);
  return (input, init) => {
    // The body of a `Request` is a stream.
    if (typeof init?.body !== 'string' || input instanceof Request) return send(input, init);
    const request = { ...init, url: String(input) } as Parameters<typeof middleware>[0];
    const next = ({ url, ...rest }: typeof request): Promise<Response> => send(url, rest);
    return middleware(request, next, CONTEXT);
  };
}
