// Access control: admits programs on this machine, or clients with the token. Rejects web pages of other sites, even if they use DNS
// rebinding.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from './options.js';

/** Why a request is rejected. */
export interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly message: string;
}

/** The target of an admitted request, or why it is rejected. */
export type Admission = { readonly target: string } | Refusal;

/** The header with the token. It is not forwarded. */
export const TOKEN_HEADER = 'x-ctxfold-token';

const TOKEN_PATH = /^\/token\/([^/?]*)/;
/** Matches how the target of a request to a proxy begins: with the host that the request is for. */
const AUTHORITY = /^http:\/\/([^/?#]*)/i;

/** Checks a request. Its target is the path without the token. */
export function admit(request: IncomingMessage, token: string | undefined): Admission {
  const { headers, socket, url: asked = '' } = request;
  const [start = '', host = headers.host] = AUTHORITY.exec(asked) ?? [];
  if (start !== '' && Number(/:(\d+)$/.exec(start)?.[1] ?? 80) !== socket.localPort) {
    return { status: 421, message: 'This is no proxy: set it as the base URL instead.' };
  }
  const url = asked.slice(start.length);
  const given = TOKEN_PATH.exec(url);
  const target = url.slice(given?.[0].length ?? 0) || '/';
  if (token !== undefined) {
    const header = headers[TOKEN_HEADER];
    const offered = given?.[1] ?? (typeof header === 'string' ? header : '');
    if (!isSameSecret(offered, token)) {
      return { status: 401, message: `Expected the token of this gateway, as ${TOKEN_HEADER}.` };
    }
  } else if (!isLoopbackName(host)) {
    return { status: 421, message: 'Expected this machine as the host.' };
  }
  if (!isOwnOrigin(headers.origin, host) || headers['sec-fetch-site'] === 'cross-site') {
    return { status: 403, message: 'Pages of other sites may not use this gateway.' };
  }
  return { target };
}

/** Whether a host is a name of loopback. Any other name may have been made to resolve to this address (DNS rebinding). */
function isLoopbackName(host: string | undefined): boolean {
  const name =
    host === undefined ? undefined : /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host.toLowerCase());
  return name !== null && name !== undefined && isLoopback(name[1] ?? name[2] ?? '');
}

/** Whether a request is not from a page of another site. Programs send no origin, or one that no web page can have. */
function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || origin === `http://${host ?? ''}`) return true;
  return origin !== 'null' && !/^https?:/i.test(origin);
}

function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
