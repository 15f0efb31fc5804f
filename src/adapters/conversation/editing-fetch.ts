// A `fetch` that edits the bodies of requests on their way.

import type { Logger } from '../../main/host/logger.js';
import { warnOfIdling } from './warn-of-failure.js';

type Fetch = typeof globalThis.fetch;

/** A request with a body that may be edited. */
export type TextRequest = Omit<RequestInit, 'body'> & { readonly body: string };

/** Sends a request, perhaps with another body. */
export type SendEdited = (url: string, request: TextRequest) => Promise<Response>;

const SIGNED_WARNING =
  'AWS refuses a request whose body has changed since it was signed, so that nothing can be compacted; use an API key, or the middleware of the SDK';

/**
 * Returns a `fetch` that has requests with a text for a body sent by a function. A request that is signed with AWS credentials leaves
 * as it came, which is said once.
 *
 * @param send makes all other requests
 */
export function editingFetch(
  sendEdited: SendEdited,
  send: Fetch,
  logger: Logger | undefined,
): Fetch {
  return (input, init) => {
    // The body of a `Request` is a stream.
    if (typeof init?.body !== 'string' || input instanceof Request) return send(input, init);
    if (new Headers(init.headers).get('authorization')?.startsWith('AWS4-') === true) {
      warnOfIdling(logger, SIGNED_WARNING);
      return send(input, init);
    }
    return sendEdited(String(input), init as TextRequest);
  };
}

/** Returns a request with another body. */
export function withBody(request: TextRequest, body: string): TextRequest {
  if (body === request.body) return request;
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  return { ...request, headers, body };
}

/** Statuses of refusals that compacting may mend. GitHub has the second one for a prompt that is too long. */
export const REFUSED: ReadonlySet<number | undefined> = new Set([400, 413]);

/** Returns what a provider says that refuses a request, if it does. The caller reads the response itself. */
export async function refusalIn(response: unknown): Promise<string | undefined> {
  // Another implementation of `fetch` may return something else.
  if (!(response instanceof Response) || !REFUSED.has(response.status)) return undefined;
  try {
    return await response.clone().text();
  } catch {
    // It was cut off, or has been read by then.
    return undefined;
  }
}
