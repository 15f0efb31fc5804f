// A `fetch` that edits the bodies of requests before they are sent.

import type { Logger } from '../../main/host/logger.js';
import { isFixableByCompacting } from '../../main/models/model-limits.js';
import { warnOnce } from './warn-of-failure.js';

type Fetch = typeof globalThis.fetch;

/** A request with a body that may be edited. */
export type TextRequest = Omit<RequestInit, 'body'> & { readonly body: string };

/** Sends a request by `send`, perhaps with another body. */
export type SendEdited = (
  url: string,
  request: TextRequest,
  send: (url: string, request: RequestInit) => Promise<Response>,
) => Promise<Response>;

const SIGNED_WARNING =
  'AWS refuses a request whose body has changed since it was signed, so that nothing can be compacted; use an API key, or the middleware of the SDK';

/**
 * Returns a `fetch` that passes requests with a string body, and instances of `Request` with JSON, to `sendEdited`. A request signed
 * with AWS credentials is sent unchanged, with a warning the first time.
 *
 * @param send sends all requests
 */
export function editingFetch(sendEdited: SendEdited, send: Fetch, logger: Logger): Fetch {
  return async (input, init) => {
    const request = input instanceof Request ? await readRequest(input, init) : init;
    if (!isTextRequest(request)) return send(input, init);
    if (new Headers(request.headers).get('authorization')?.startsWith('AWS4-') === true) {
      warnOnce(logger, SIGNED_WARNING);
      return send(input, init);
    }
    if (!(input instanceof Request)) return sendEdited(String(input), request, send);
    return sendEdited(input.url, request, (url, edited) => {
      if (url !== input.url) return send(url, edited);
      if (edited.body === request.body) return send(input, init);
      const { headers = input.headers, body = null } = edited;
      return send(new Request(input, { headers, body }), init);
    });
  };
}

/** Reads a copy of a `Request` whose body is JSON. Other bodies may be large files. */
async function readRequest(
  given: Request,
  init: RequestInit | undefined,
): Promise<RequestInit | undefined> {
  const isJson = given.headers.get('content-type')?.includes('json') === true;
  if (!isJson || given.bodyUsed || (init?.body ?? undefined) !== undefined) return undefined;
  const { method, headers, signal } = given;
  return { method, headers, signal, body: await given.clone().text() };
}

function isTextRequest(request: RequestInit | undefined): request is TextRequest {
  return typeof request?.body === 'string';
}

/** Returns a request with another body. */
export function withBody<R extends Pick<RequestInit, 'headers' | 'body'>>(
  request: R,
  body: string,
): R {
  if (body === request.body) return request;
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  return { ...request, headers, body };
}

/**
 * Sends what `edited` returns. If the provider refuses it in a way that compaction may fix, sends what `edited` returns for the refusal,
 * unless that is the same body.
 *
 * @returns what was sent last, and the response to it
 */
export async function sendAtMostTwice<E extends { readonly body: string }>(
  edited: (refusal?: string) => Promise<E>,
  send: (request: E) => Promise<Response>,
): Promise<{ readonly sent: E; readonly response: Response }> {
  const sent = await edited();
  const response = await send(sent);
  const refusal = await refusalIn(response);
  if (!isFixableByCompacting(refusal)) return { sent, response };
  const again = await edited(refusal);
  return again.body === sent.body
    ? { sent, response }
    : { sent: again, response: await send(again) };
}

/** HTTP statuses of refusals that compaction may fix. GitHub answers 413 to a prompt that is too long. */
export const REFUSED: ReadonlySet<number | undefined> = new Set([400, 413]);

/** Returns the body of a provider's refusal, else `undefined`. Reads a clone, because the caller reads the response itself. */
export async function refusalIn(response: unknown): Promise<string | undefined> {
  // Another implementation of `fetch` may return something else.
  if (!(response instanceof Response) || !REFUSED.has(response.status)) return undefined;
  try {
    return await response.clone().text();
  } catch {
    // The response was cut off, or its body has already been read.
    return undefined;
  }
}
