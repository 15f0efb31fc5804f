// The server: admits or rejects requests, and dispatches them.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CostReport } from '../../main/preflight/cost-meter.js';
import { settledWithin } from '../../main/waiting/abortable.js';
import { SpareMemory } from '../body/spare-memory.js';
import type { Engine } from '../engine/protocol.js';
import type { CompleteGatewayOptions } from './options.js';
import { exchange } from './exchange.js';
import type { ExchangeParts } from './exchange.js';
import { Forwarder, MAX_HEADER_BYTES, refuse } from './forward.js';
import { admit } from './guard.js';
import { Ledger } from './ledger.js';
import { answerOwn, isOwnPath } from './own-routes.js';
import { routeOf } from './route.js';
import { answer, declineUpgrade, isForWebSocket, tunnel } from './tunnel.js';

/** A running gateway. */
export interface Gateway {
  /** Its URL, without a trailing slash. If there is a token, it is part of the path. */
  readonly url: string;
  /**
   * What each conversation so far cost, its messages alone, as `session.costs()` reports it; in mode `observe`, what it would cost if it
   * were compacted. At most the last `maxConversations`. Requests that are still being read are missing until `close` resolves.
   */
  costs(): readonly CostReport[];
  /**
   * Stops listening, waits for open answers, and closes the engine. Idempotent.
   *
   * @param graceMs milliseconds after which answers that are still open are cut off. @default 2_000
   */
  close(graceMs?: number): Promise<void>;
}

/** Decides from Node 24.9 on which upgrades emit `upgrade`; Node's types do not have it. Older versions emit it for each one. */
const UPGRADES = { shouldUpgradeCallback: isForWebSocket };
const HEADERS_TIMEOUT_MS = 30_000;
/** Time for a client to send a request: enough for a body of 100 MB over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 65_000;
/** Longer than the round trip to any client. */
const PROBE_MS = 250;

/** Starts a server, and resolves once it listens. @throws errors of listening, such as `EADDRINUSE` */
export async function serve(options: CompleteGatewayOptions, engine: Engine): Promise<Gateway> {
  const ledger = new Ledger(options);
  const forwarder = new Forwarder(options, (failure) => {
    ledger.recordFailure(failure);
  });
  const reading = new Set<Promise<unknown>>();
  const parts = { engine, forwarder, ledger, options, memory: new SpareMemory(), reading };
  const server = createServer({
    ...UPGRADES,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  });
  server.maxConnections = options.maxConnections;
  // Node's types do not have `httpAllowHalfOpen`.
  Object.assign(server, { httpAllowHalfOpen: true });
  /** All open connections, including upgraded ones, which the server does not track. */
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    // Each pipelined request listens for the end of the connection.
    socket.setMaxListeners(0);
    socket.once('close', () => sockets.delete(socket));
  });
  /** The answer to the newest request of each connection. */
  const newest = new WeakMap<Duplex, ServerResponse>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    newest.set(request.socket, response);
    if (!server.listening) response.shouldKeepAlive = false;
    response.on('error', () => response.destroy());
    request.on('error', () => response.destroy());
    awaitEnd(request, response);
    answerRequest(parts, request, response);
  };
  server.on('request', handle);
  // Clients may send `Expect: 100-continue` before a large body.
  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    handle(request, response);
  });
  server.on('connect', (_request, socket: Duplex) => {
    destroyOnError(socket);
    answer(socket, 405);
  });
  const handleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (isForWebSocket(request)) openTunnel(parts, request, socket, head);
    else declineUpgrade(server, request, socket, head);
  };
  server.on('upgrade', (request, socket: Duplex, head) => {
    destroyOnError(socket);
    const former = newest.get(socket);
    if (former === undefined || former.writableFinished) {
      handleUpgrade(request, socket, head);
      return;
    }
    // Node emits this although requests before it on the connection have not been answered yet.
    former.once('close', () => {
      if (socket.writable) handleUpgrade(request, socket, head);
    });
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  let closing: Promise<void> | undefined;
  return {
    url: urlOf(server, options),
    costs: () => ledger.costs,
    close: (graceMs = CLOSING_MS) => {
      ledger.emit('end');
      // Clients are told to send no further requests on their connections, which would be cut off in the end.
      for (const socket of sockets) {
        const open = newest.get(socket);
        if (open?.headersSent === false) open.shouldKeepAlive = false;
      }
      closing ??= shutDown(server, sockets, graceMs).finally(async () => {
        forwarder.close();
        await settledWithin(READING_MS, Promise.all(reading), true);
        await engine.close();
      });
      return closing;
    },
  };
}

/** For a connection that the server has given up: an error would end the process. */
function destroyOnError(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
}

/** Admits a request or refuses it, and dispatches it. */
function answerRequest(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { forwarder, ledger, options } = parts;
  const admission = admit(request, options.token);
  if ('status' in admission) {
    refuse(response, admission.status, admission.message);
    return;
  }
  if (isOwnPath(admission.target)) {
    answerOwn(parts, request, response, admission.target).catch(() => {
      refuse(response, 500, 'this could not be answered.');
    });
    return;
  }
  const route = routeOf(request, admission.target, options.upstreams);
  if (route === undefined) {
    refuse(response, 404, 'no upstream has such a path; others are named by --upstream.');
    return;
  }
  const { api, isSideRequest } = route;
  // If requests are sent unedited, these are forwarded unedited, too.
  if (api !== undefined && (!isSideRequest || ledger.mayCompact)) {
    exchange(parts, request, response, { ...route, api });
    return;
  }
  ledger.recordPassed('other requests');
  forwarder.forward(request, response, route);
}

/** Admits a request for a WebSocket or refuses it, and connects the client to its upstream. */
function openTunnel(
  { forwarder, ledger, options }: ExchangeParts,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const admission = admit(request, options.token);
  if ('status' in admission) {
    answer(socket, admission.status);
    return;
  }
  ledger.recordPassed('another protocol');
  tunnel(forwarder, request, socket, head, routeOf(request, admission.target, options.upstreams));
}

/**
 * Detects clients that have disconnected. A client that has sent everything may also just close its half of the connection, which
 * looks the same. So two interim answers are sent: the system of a client that is gone replies to the first one with a reset, and
 * then the second one fails.
 */
function awaitEnd({ socket, httpVersion }: IncomingMessage, response: ServerResponse): void {
  let again: NodeJS.Timeout | undefined;
  const probe = (): void => {
    if (!response.headersSent && httpVersion !== '1.0') response.writeContinue();
  };
  const onEnd = (): void => {
    if (response.writableEnded) return;
    // An answer that has begun may pause for long, and cannot contain interim answers, so the connection is ended.
    if (response.headersSent) return void socket.end();
    probe();
    again = setTimeout(probe, PROBE_MS).unref();
  };
  socket.once('end', onEnd);
  response.once('close', () => {
    clearTimeout(again);
    socket.off('end', onEnd);
  });
}

function urlOf(server: Server, { token }: CompleteGatewayOptions): string {
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}${token === undefined ? '' : `/token/${token}`}`;
}

/** How long the end waits for observed requests that are being read. */
const READING_MS = 2_000;
/** Default time for open answers to end. */
const CLOSING_MS = 2_000;
/** Interval at which connections whose answers have ended are closed. */
const SWEEP_MS = 100;

async function shutDown(
  server: Server,
  sockets: ReadonlySet<Socket>,
  graceMs: number,
): Promise<void> {
  const late = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, SWEEP_MS);
  const closed = once(server, 'close');
  server.close();
  await closed;
  clearTimeout(late);
  clearInterval(sweep);
}
