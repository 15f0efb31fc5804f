// Handles upgrade requests. For WebSockets, clients with a fallback are told to use HTTP, and others are connected to their upstream
// without reading their data. Other protocols are declined by answering in HTTP.

import { STATUS_CODES } from 'node:http';
import type { ClientRequest, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Forwarder } from './forward.js';
import { endToEnd, pairs, reasonPhraseOf, writeHead } from './headers.js';
import type { Route } from './route.js';

/** Paths whose clients fall back to HTTP after status 426, so that the gateway can read their histories. */
const HAS_FALLBACK = /\/responses\/?$/;

/** Answers a request for a WebSocket: refuses it, or connects the client, whose errors are handled, to its upstream. */
export function tunnel(
  forwarder: Forwarder,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  route: Route | undefined,
): void {
  if (route === undefined) {
    answer(socket, 404);
    return;
  }
  if (HAS_FALLBACK.test(route.path.split('?', 1)[0] ?? '')) {
    answer(socket, 426);
    return;
  }
  let outgoing: ClientRequest;
  try {
    outgoing = forwarder.upgrade(request, route);
  } catch {
    answer(socket, 400);
    return;
  }
  socket.once('close', () => outgoing.destroy());
  outgoing.on('error', () => {
    answer(socket, 502);
  });
  outgoing.on('response', (refusal) => {
    socket.write(headOf(refusal, [...endToEnd(refusal.rawHeaders), 'Connection', 'close']));
    refusal.pipe(socket);
    refusal.once('close', () => {
      if (!refusal.complete) socket.destroy();
    });
  });
  outgoing.on('upgrade', (agreed, upstream, first) => {
    upstream.on('error', () => socket.destroy());
    upstream.once('close', () => socket.destroy());
    socket.once('close', () => upstream.destroy());
    upstream.setTimeout(0);
    socket.write(headOf(agreed, agreed.rawHeaders));
    if (first.length > 0) socket.write(first);
    if (head.length > 0) upstream.write(head);
    upstream.pipe(socket);
    socket.pipe(upstream);
  });
  outgoing.end();
}

/** Whether a request is for an upgrade that `tunnel` answers. */
export function isForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Feeds a request to the server again without its `Upgrade` header. Node before 24.9 stops parsing a connection at an upgrade request,
 * but the upgrade is optional: Java's HTTP client offers HTTP/2 with its first request, which includes a body.
 */
export function declineUpgrade(
  server: Server,
  { method = '', url = '', httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const headers = pairs(rawHeaders).filter(([name]) => name.toLowerCase() !== 'upgrade');
  const start = writeHead(`${method} ${url} HTTP/${httpVersion}`, headers.flat());
  socket.unshift(Buffer.concat([start, head]));
  server.emit('connection', socket);
}

/** Ends a connection with a status and no body. */
export function answer(socket: Duplex, status: number): void {
  if (socket.destroyed || socket.writableEnded) return;
  const headers =
    status === 426 ? 'Upgrade: HTTP/1.1\r\nConnection: Upgrade, close' : 'Connection: close';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${headers}\r\nContent-Length: 0\r\n\r\n`,
  );
}

function headOf(answer: IncomingMessage, headers: readonly string[]): Buffer {
  const { statusCode = 502 } = answer;
  return writeHead(`HTTP/1.1 ${statusCode} ${reasonPhraseOf(answer)}`, headers);
}
