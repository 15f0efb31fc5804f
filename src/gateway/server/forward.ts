// Forwards a request to its upstream and pipes the answer back, with headers, trailers, backpressure and aborts in both directions.
// Reads no content.

import { Agent as HttpAgent, request as requestHttp, STATUS_CODES } from 'node:http';
import type {
  ClientRequest,
  IncomingMessage,
  InformationEvent,
  RequestOptions,
  ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { REFUSED } from '../../adapters/conversation/editing-fetch.js';
import { codingOf, unpack } from './coding.js';
import { TOKEN_HEADER } from './guard.js';
import type { CompleteGatewayOptions } from './options.js';
import type { Route } from './route.js';

/** Limit for the head of a request and for that of an answer, in bytes. */
export const MAX_HEADER_BYTES: number = 64 * 1024;

/** Listeners of a forwarded request. */
export interface ForwardEvents {
  /** Called with the head of the answer, before any data. */
  readonly onAnswer?: (answer: IncomingMessage) => void;
  /** Called if there is no answer, with the code of the error. */
  readonly onFailure?: (code: string) => void;
  /**
   * Called with an answer whose status is in `REFUSED`, before the client gets it. Resolves to a body to send instead of the refused
   * one, or to `undefined` to pass the answer on. A request is sent again once at most. Never rejects.
   */
  readonly onRefused?: (text: string, status: number) => Promise<Uint8Array | undefined>;
}

type ForwarderOptions = Pick<CompleteGatewayOptions, 'idleTimeoutMs' | 'proxyEnv'>;

/** Owns the connections to the upstreams. */
export class Forwarder {
  readonly #http = withShortIdleness(new HttpAgent({ keepAlive: true }));
  readonly #https: HttpsAgent;
  /** For upgrades, whose connections no other request can use, and for retries of requests that failed on a kept-alive connection. */
  readonly #httpsOnce: HttpsAgent;
  readonly #idleTimeoutMs: number;

  constructor({ idleTimeoutMs, proxyEnv }: ForwarderOptions) {
    this.#idleTimeoutMs = idleTimeoutMs;
    // Node's types do not have `proxyEnv` yet.
    const viaProxy: object = { proxyEnv };
    this.#https = withShortIdleness(new HttpsAgent({ keepAlive: true, ...viaProxy }));
    this.#httpsOnce = new HttpsAgent(viaProxy);
  }

  /**
   * Forwards a request.
   *
   * @param body replaces the request's own body
   * @param isAgain whether this is a retry, which gets a connection of its own
   */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    body: Uint8Array | undefined,
    events: ForwardEvents,
    isAgain: boolean = false,
  ): void {
    let outgoing: ClientRequest;
    try {
      outgoing = this.#open(request, route, body?.length, isAgain);
    } catch {
      events.onFailure?.('a request that cannot be passed on');
      refuse(response, 400, 'the request has headers that cannot be passed on.');
      return;
    }
    let isAnswered = false;
    let isBroken = false;
    const startMs = performance.now();
    let readBefore: number | undefined;
    outgoing.once('socket', ({ bytesRead }) => {
      readBefore = bytesRead;
    });
    const fail = (error: NodeJS.ErrnoException): void => {
      // Data that has already arrived is still piped. Then the client's connection is closed.
      isBroken = true;
      if (isAnswered || response.destroyed) return;
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      const isStale =
        outgoing.reusedSocket && isClosed && outgoing.socket?.bytesRead === readBefore;
      // No retry if the connection was closed later, or after part of an answer: the upstream may have processed the request.
      if (isStale && body !== undefined && performance.now() - startMs < STALE_MS) {
        this.forward(request, response, route, body, events, true);
        return;
      }
      events.onFailure?.(error.code ?? error.name);
      refuse(
        response,
        error.code === TIMEOUT ? 504 : 502,
        `${route.upstreamName} did not answer (${error.code ?? error.name}).`,
      );
    };
    outgoing.setTimeout(this.#idleTimeoutMs, () => {
      outgoing.destroy(Object.assign(new Error('Nothing came for too long.'), { code: TIMEOUT }));
    });
    outgoing.on('error', fail);
    // `close` comes without `error` if the answer switches to a protocol that nobody asked for.
    outgoing.once('close', () => {
      if (!isAnswered && !isBroken) fail(new Error('The connection was closed.'));
    });
    const drain = (): void => {
      if (body === undefined && !request.complete) discardRest(request, outgoing);
    };
    outgoing.once('close', drain);
    outgoing.on('information', (interim) => {
      passInterim(interim, response);
    });
    outgoing.on('response', (answer) => {
      isAnswered = true;
      answer.once('end', drain);
      answer.on('error', fail);
      const pass = (): void => {
        pipeAnswer(answer, response, () => isBroken);
        events.onAnswer?.(answer);
      };
      const { onRefused, ...others } = events;
      if (onRefused === undefined || !REFUSED.has(answer.statusCode)) pass();
      else
        void mended(answer, onRefused).then((body) => {
          if (body === undefined) pass();
          else answer.resume();
          if (body !== undefined && !response.destroyed)
            this.forward(request, response, route, body, others);
        });
    });
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (body === undefined) pipeRequest(request, outgoing);
    else outgoing.end(body);
  }

  /** Opens a connection for an upgrade to another protocol. @throws for headers that cannot be passed on */
  upgrade(request: IncomingMessage, route: Route): ClientRequest {
    const headers = endToEnd(request.rawHeaders, ['host', 'trailer', TOKEN_HEADER]);
    const { upgrade = 'websocket' } = request.headers;
    headers.push('Host', route.upstream.host, 'Connection', 'Upgrade', 'Upgrade', upgrade);
    const outgoing = this.#request(route, { method: request.method, headers }, true);
    outgoing.setTimeout(this.#idleTimeoutMs, () => outgoing.destroy());
    return outgoing;
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
    this.#httpsOnce.destroy();
  }

  #open(
    request: IncomingMessage,
    route: Route,
    length: number | undefined,
    isOwnConnection: boolean,
  ): ClientRequest {
    const { 'transfer-encoding': coding, 'content-length': announced } = request.headers;
    const isChunked = length === undefined && coding !== undefined;
    const headers = endToEnd(request.rawHeaders, [
      'host',
      'expect',
      TOKEN_HEADER,
      ...(length === undefined ? [] : ['content-length']),
      ...(isChunked ? [] : ['trailer']),
    ]);
    headers.unshift('Host', route.upstream.host);
    if (length !== undefined) headers.push('Content-Length', String(length));
    else if (isChunked) headers.push('Transfer-Encoding', coding);
    // Otherwise Node would announce chunks for a request with such a method but no body.
    else if (announced === undefined && MAY_LACK_BODY.test(request.method ?? ''))
      headers.push('Content-Length', '0');
    if (request.headers.te?.includes('trailers') === true) headers.push('TE', 'trailers');
    return this.#request(route, { method: request.method, headers }, isOwnConnection);
  }

  #request(
    { upstream, path }: Route,
    options: RequestOptions,
    isOwnConnection: boolean,
  ): ClientRequest {
    const { hostname, port, protocol } = upstream;
    const isSecure = protocol === 'https:';
    const send = isSecure ? requestHttps : requestHttp;
    const shared = isSecure ? this.#https : this.#http;
    const own = isSecure ? this.#httpsOnce : false;
    return send({
      agent: isOwnConnection ? own : shared,
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      path,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...options,
    });
  }
}

const MAY_LACK_BODY = /^(?:POST|PUT|PATCH)$/;
const TIMEOUT = 'ETIMEDOUT';
/** Idle time of kept connections, the same as in Node's `fetch`. Servers close idle connections a second later at the earliest. */
const IDLE_MS = 4_000;
/** A connection that its upstream had already closed fails within this time after a request is sent on it. */
const STALE_MS = 1_000;

/**
 * Makes an agent close idle connections before their server does, because a request that is sent while the server closes fails.
 * After a machine has slept, it would even wait for minutes. The agent's own option `timeout` would also limit the time to connect.
 */
function withShortIdleness<Agent extends HttpAgent>(agent: Agent): Agent {
  const keepAlive: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const isKept = keepAlive(socket);
    if (socket instanceof Socket) socket.setTimeout(IDLE_MS);
    return isKept;
  };
  return agent;
}

/** Answers with an error of the gateway, in a shape that clients of all APIs can read. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  const error = {
    type: 'ctxfold_gateway_error',
    code: status,
    message: `ctxfold gateway: ${message}`,
  };
  const text = JSON.stringify({ type: 'error', error });
  // The reason phrase is given, because that of an answer that could not be passed on would stay otherwise. The connection is closed,
  // so as not to wait for the rest of the request.
  response.writeHead(status, STATUS_CODES[status], {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.end(text);
}

/** Resolves to another body for a refused request, if there is one. The answer can still be read afterwards. */
async function mended(
  answer: IncomingMessage,
  onRefused: NonNullable<ForwardEvents['onRefused']>,
): Promise<Uint8Array | undefined> {
  const bytes = await peek(answer);
  const coding = codingOf(answer.headers);
  if (bytes === undefined || coding === undefined) return undefined;
  const text =
    coding === 'none' ? bytes : await unpack(bytes, coding, MAX_REFUSAL).catch(() => undefined);
  return text && onRefused(text.toString(), answer.statusCode ?? 0);
}

/** Limit for the bytes of a refusal that is unpacked. */
const MAX_REFUSAL = 64 * 1024;
/** A refusal that takes longer than this to arrive is passed on to the client. */
const REFUSAL_MS = 1_000;

/** Resolves to the body of an answer, and leaves it there to be read; `undefined` if the body is long, late or cut off. */
function peek(answer: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(late);
      answer.off('readable', look).off('close', end);
      const bytes = answer.complete ? (answer.read() as Buffer | null) : null;
      if (bytes !== null) answer.unshift(bytes);
      resolve(bytes ?? undefined);
    };
    const look = (): void => {
      if (answer.complete || answer.readableLength >= answer.readableHighWaterMark) end();
    };
    const late = setTimeout(end, REFUSAL_MS);
    answer.on('readable', look).once('close', end);
  });
}

function pipeRequest(request: IncomingMessage, outgoing: ClientRequest): void {
  request.pipe(outgoing, { end: false });
  request.once('end', () => {
    if (request.rawTrailers.length > 0) outgoing.addTrailers(pairs(request.rawTrailers));
    outgoing.end();
  });
  request.once('close', () => {
    if (!request.complete) outgoing.destroy();
  });
}

/**
 * Discards the rest of a request whose answer is complete, because some clients read no answer before they have sent everything.
 * Once the answer is complete, Node writes no more of the request.
 */
function discardRest(request: IncomingMessage, outgoing: ClientRequest): void {
  request.unpipe(outgoing);
  outgoing.destroy();
  request.resume();
}

/** Passes on an interim answer, such as early hints, but no `100 Continue`: a client that asked for that has it from the gateway. */
function passInterim(
  { statusCode, statusMessage, rawHeaders }: InformationEvent,
  { socket, req, headersSent }: ServerResponse,
): void {
  if (statusCode === 100 || headersSent || req.httpVersion === '1.0') return;
  const reason = NOT_IN_HEADERS.test(statusMessage) ? '' : statusMessage;
  const lines = pairs(endToEnd(rawHeaders)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket?.write(`HTTP/1.1 ${statusCode} ${reason}\r\n${lines.join('')}\r\n`, 'latin1');
}

function pipeAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  isBroken: () => boolean,
): void {
  if (response.destroyed) return void answer.destroy();
  response.sendDate = false;
  const { statusCode = 502, statusMessage = '' } = answer;
  const reason = NOT_IN_HEADERS.test(statusMessage) ? '' : statusMessage;
  // Node writes trailers, and announces their names in the head, for chunked bodies only.
  const isChunked =
    answer.headers['transfer-encoding'] !== undefined &&
    response.useChunkedEncodingByDefault &&
    response.req.method !== 'HEAD';
  const headers = endToEnd(answer.rawHeaders, isChunked ? [] : ['trailer']);
  try {
    response.writeHead(statusCode, reason, headers);
  } catch {
    answer.destroy();
    refuse(response, 502, 'the answer has headers that cannot be passed on.');
    return;
  }
  response.flushHeaders();
  answer.pipe(response, { end: false });
  // An answer without a length ends with its connection. Node treats it as complete even if the connection was reset.
  const hasNoLength =
    answer.headers['content-length'] === undefined &&
    answer.headers['transfer-encoding'] === undefined;
  const end = (): void => {
    if (hasNoLength && isBroken()) return void response.destroy();
    if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
    response.end();
  };
  const close = (): void => {
    if (!answer.complete) response.destroy();
  };
  // After `peek`, the answer may have ended already, if it is empty or was cut off.
  if (answer.readableEnded) end();
  else answer.once('end', end);
  if (answer.closed) close();
  else answer.once('close', close);
}

/** Characters that Node refuses to write in a head, although it accepts them when it reads a status line. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/** Hop-by-hop headers. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the end-to-end headers of a message, in their order and spelling. */
function endToEnd(headers: readonly string[], without: readonly string[] = []): string[] {
  const dropped = new Set([...OF_CONNECTION, ...without]);
  for (const [name, value] of pairs(headers)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const listed of value.split(',')) dropped.add(listed.trim().toLowerCase());
  }
  return pairs(headers)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

/** Converts Node's raw headers, a flat list of names and values, to pairs. */
export function pairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length >> 1 }, (_, at) => [
    headers[at * 2] ?? '',
    headers[at * 2 + 1] ?? '',
  ]);
}
