// Forwards a request to its upstream and pipes the answer back, with headers, trailers, backpressure and aborts in both directions.
// Reads no content, except that of refusals that may be mended.

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
import { endToEnd, pairs, reasonPhraseOf, writeHead } from './headers.js';
import type { CompleteGatewayOptions } from './options.js';
import { OwnBody } from './own-body.js';
import type { Route } from './route.js';

/** Size limit for the head of a request or an answer, in bytes. */
export const MAX_HEADER_BYTES: number = 64 * 1024;

/** Listeners of a forwarded request. */
export interface ForwardEvents {
  /** Called with the head of the answer, before any data. */
  readonly onAnswer?: (answer: IncomingMessage) => void;
  /**
   * Called for an answer whose status is in `REFUSED`, before the client gets it. Resolves to a body for a single retry, or to
   * `undefined` to pass on the answer. Must never reject.
   */
  readonly onRefused?: (text: string, status: number) => Promise<Uint8Array | undefined>;
}

/** A request that is being forwarded. */
interface Forwarded {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly body: Uint8Array | undefined;
  readonly events: ForwardEvents;
  /** The request's own body. If a first attempt fails, it has read a part of it. */
  readonly own: OwnBody;
}

type ForwarderOptions = Pick<CompleteGatewayOptions, 'idleTimeoutMs' | 'proxyEnv'>;

/** Owns the connections to the upstreams. */
export class Forwarder {
  readonly #http = withShortIdleness(new HttpAgent({ keepAlive: true }));
  readonly #https: HttpsAgent;
  /** Does not keep connections. For upgrades, which no other request can share, and for retries after a kept connection failed. */
  readonly #httpsOnce: HttpsAgent;
  readonly #idleTimeoutMs: number;
  readonly #reportFailure: (message: string) => void;

  /** @param reportFailure called for each request that gets no answer */
  constructor(
    { idleTimeoutMs, proxyEnv }: ForwarderOptions,
    reportFailure: (message: string) => void,
  ) {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#reportFailure = reportFailure;
    // Node's types do not have `proxyEnv` yet.
    const viaProxy: object = { proxyEnv };
    this.#https = withShortIdleness(new HttpsAgent({ keepAlive: true, ...viaProxy }));
    this.#httpsOnce = new HttpsAgent(viaProxy);
  }

  /**
   * Forwards a request.
   *
   * @param body replaces the request's own body
   */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    body?: Uint8Array,
    events: ForwardEvents = {},
  ): void {
    this.#send({ request, response, route, body, events, own: new OwnBody(request) }, false);
  }

  /** @param isRepeated whether a kept connection has failed, so that the request gets a new one */
  #send(forwarded: Forwarded, isRepeated: boolean): void {
    const { request, response, route, body, own } = forwarded;
    let outgoing: ClientRequest;
    try {
      outgoing = this.#open(request, route, body?.length, isRepeated);
    } catch {
      this.#reportFailure(
        `${route.upstreamName} did not answer (a request that cannot be passed on)`,
      );
      refuse(response, 400, 'the request has headers that cannot be passed on.');
      return;
    }
    let isAnswered = false;
    let isBroken = false;
    let isRetried = false;
    const wasUnread = watchReuse(outgoing);
    const fail = (error: NodeJS.ErrnoException): void => {
      // Data that has arrived is still piped before the client's connection is closed.
      isBroken = true;
      if (isAnswered || response.destroyed) return;
      isRetried = wasUnread(error) && (body !== undefined || own.isKept);
      if (isRetried) this.#send(forwarded, true);
      else this.#giveUp(forwarded, error);
    };
    outgoing.setTimeout(this.#idleTimeoutMs, () => {
      outgoing.destroy(Object.assign(new Error('Nothing came for too long.'), { code: TIMEOUT }));
    });
    outgoing.on('error', fail);
    // After an answer that switches to a protocol nobody asked for, Node closes the connection without an error.
    outgoing.once('close', () => {
      if (!isAnswered && !isBroken) fail(new Error('The connection was closed.'));
    });
    const drain = (): void => {
      if (body === undefined && !isRetried) own.discardRest(outgoing);
    };
    outgoing.once('close', drain);
    outgoing.on('information', (interim) => {
      passInterim(interim, response);
    });
    outgoing.on('response', (answer) => {
      isAnswered = true;
      own.forget();
      answer.once('end', drain);
      answer.on('error', fail);
      this.#takeAnswer(forwarded, answer, () => isBroken);
    });
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (body === undefined) own.pipeTo(outgoing);
    else outgoing.end(body);
  }

  /** Answers a request that gets no answer. */
  #giveUp({ response, route }: Forwarded, error: NodeJS.ErrnoException): void {
    const failure = `${route.upstreamName} did not answer (${error.code ?? error.name})`;
    this.#reportFailure(failure);
    refuse(response, error.code === TIMEOUT ? 504 : 502, `${failure}.`);
  }

  /** Passes on an answer, unless it is a refusal for which there is another body. */
  #takeAnswer(
    { request, response, route, events: { onRefused, ...others } }: Forwarded,
    answer: IncomingMessage,
    isBroken: () => boolean,
  ): void {
    const pass = (): void => {
      pipeAnswer(answer, response, isBroken);
      others.onAnswer?.(answer);
    };
    if (onRefused === undefined || !REFUSED.has(answer.statusCode)) {
      pass();
      return;
    }
    void bodyForRetry(answer, onRefused).then((mended) => {
      if (mended === undefined) {
        pass();
        return;
      }
      answer.resume();
      if (!response.destroyed) this.forward(request, response, route, mended, others);
    });
  }

  /** Opens a connection for an upgrade to another protocol. @throws for headers that cannot be passed on */
  upgrade(request: IncomingMessage, route: Route): ClientRequest {
    // Without a body: an upstream that is told of one waits for it.
    const without = ['host', 'trailer', 'content-length', TOKEN_HEADER];
    const headers = endToEnd(request.rawHeaders, without);
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
    // Without a length, Node would send `Transfer-Encoding: chunked` for these methods even if there is no body.
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
/** As in Node's `fetch`. Servers close idle connections a second later at the earliest. */
const IDLE_MS = 4_000;
/** If an upstream had closed a kept connection before the request, its reset arrives within this time. */
const STALE_MS = 1_000;

/**
 * Returns a function that tells whether an error means that the upstream had closed a kept connection before it read the request. If
 * the error comes late, or after some bytes of an answer, the upstream may have processed the request.
 */
function watchReuse(outgoing: ClientRequest): (error: NodeJS.ErrnoException) => boolean {
  const startMs = performance.now();
  let readBefore: number | undefined;
  outgoing.once('socket', ({ bytesRead }) => {
    readBefore = bytesRead;
  });
  return ({ code }) => {
    const isClosed = code === 'ECONNRESET' || code === 'EPIPE';
    const hasReadNothing = outgoing.socket?.bytesRead === readBefore;
    const isSoon = performance.now() - startMs < STALE_MS;
    return outgoing.reusedSocket && isClosed && hasReadNothing && isSoon;
  };
}

/**
 * Makes an agent close idle connections before the server does: a request that races with the server's close fails, and after the
 * machine has slept, it would even wait for minutes. The agent's own option `timeout` would also limit the time to connect.
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
  // Sets the reason phrase explicitly: after a failed `writeHead`, that of the upstream's answer would stay. `connection: close`
  // avoids waiting for the rest of the request.
  response.writeHead(status, STATUS_CODES[status], {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.end(text);
}

/** Resolves to another body for a refused request, or to `undefined`; in both cases the answer can still be read. */
async function bodyForRetry(
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

/** Limit for a decompressed refusal, in bytes. */
const MAX_REFUSAL = 64 * 1024;
/** A refusal whose body takes longer is streamed to the client. */
const REFUSAL_MS = 1_000;

/** Resolves to the body of an answer without consuming it; `undefined` if it is empty, long, late or cut off. */
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

/** Passes on an interim answer, such as early hints; not `100 Continue`, which the gateway itself sends to clients that expect it. */
function passInterim(
  interim: InformationEvent,
  { socket, req, headersSent }: ServerResponse,
): void {
  const { statusCode, rawHeaders } = interim;
  if (statusCode === 100 || headersSent || req.httpVersion === '1.0') return;
  socket?.write(
    writeHead(`HTTP/1.1 ${statusCode} ${reasonPhraseOf(interim)}`, endToEnd(rawHeaders)),
  );
}

function pipeAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  isBroken: () => boolean,
): void {
  if (response.destroyed) return void answer.destroy();
  response.sendDate = false;
  const { statusCode = 502 } = answer;
  // Node writes trailers, and the `Trailer` header, only with chunked bodies.
  const isChunked =
    answer.headers['transfer-encoding'] !== undefined &&
    response.useChunkedEncodingByDefault &&
    response.req.method !== 'HEAD';
  const headers = endToEnd(answer.rawHeaders, isChunked ? [] : ['trailer']);
  try {
    response.writeHead(statusCode, reasonPhraseOf(answer), headers);
  } catch {
    answer.destroy();
    refuse(response, 502, 'the answer has headers that cannot be passed on.');
    return;
  }
  // Sends the head. `flushHeaders` writes characters above U+007F, each a byte of the upstream's head, in UTF-8. A write does nothing
  // where there can be no body, and waits for the next turn, before which an answer that was cut off may end the connection.
  if (response.req.method === 'HEAD' || [204, 304].includes(statusCode)) response.flushHeaders();
  else response.write(Buffer.alloc(0));
  response.socket?.uncork();
  answer.pipe(response, { end: false });
  // An answer without a length ends when its connection closes; Node treats it as complete even after a connection reset.
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
  // An answer that `peek` has looked at may have ended already, if it was empty or cut off.
  if (answer.readableEnded) end();
  else answer.once('end', end);
  if (answer.closed) close();
  else answer.once('close', close);
}
