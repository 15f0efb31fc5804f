// A gateway between a scripted upstream and a client that sees raw responses, all on loopback.

import { createServer, request as send } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startGateway } from '../../src/gateway/start-gateway.js';
import type { GatewayOptions } from '../../src/gateway/server/options.js';
import type { Gateway } from '../../src/gateway/server/gateway.js';

/** A request as received by the upstream. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A response as received by the client. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
}

/** What a client sends. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The test environment. */
export interface GatewayWorld {
  readonly gateway: Gateway;
  readonly received: ReceivedRequest[];
  /** The upstream's handler; may be replaced. */
  answer: (request: ReceivedRequest, response: Parameters<RequestListener>[1]) => void;
  readonly send: (path: string, sent?: Sent) => Promise<Received>;
  /** The same, without the gateway. */
  readonly sendDirectly: (path: string, sent?: Sent) => Promise<Received>;
  readonly upstreamUrl: string;
}

/** Listens on a free loopback port. */
export async function listening(server: NetServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends one request on its own connection. */
export async function sendTo(base: string, path: string, sent: Sent = {}): Promise<Received> {
  const { method = 'POST', headers = {}, body = '' } = sent;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(
      `${base}${path}`,
      { method, headers: { ...headers }, agent: false },
      resolve,
    );
    request.on('error', reject);
    request.end(body);
  });
  const bytes = await buffer(answer);
  const { statusCode = 0, rawHeaders, rawTrailers } = answer;
  return { status: statusCode, headers: answer.headers, rawHeaders, rawTrailers, body: bytes };
}

/** Starts a gateway in front of a scripted upstream. Both close after the test, unless `after` has them closed later. */
export async function gatewayWorld(
  options: GatewayOptions = {},
  after: (close: () => Promise<void>) => void = onTestFinished,
): Promise<GatewayWorld> {
  const closing: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });
  const received: ReceivedRequest[] = [];
  const upstream = createServer((request, response) => {
    void buffer(request).then(
      (body) => {
        const { method = '', url = '', rawHeaders, headers } = request;
        const taken = { method, url, rawHeaders, headers, body };
        received.push(taken);
        world.answer(taken, response);
      },
      () => undefined,
    );
  });
  const upstreamUrl = await listening(upstream);
  closing.push(async () => {
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  });
  const gateway = await startGateway({
    engine: 'inline',
    upstreams: { anthropic: upstreamUrl, openai: upstreamUrl, gemini: upstreamUrl },
    workspaceRoot: '/w',
    // With a short deadline, a busy machine would forward requests uncompacted.
    deadlineMs: 60_000,
    ...options,
  });
  closing.push(() => gateway.close());
  const world: GatewayWorld = {
    gateway,
    received,
    upstreamUrl,
    answer: (_, response) => {
      response.end('{}');
    },
    send: (path, sent) => sendTo(gateway.url, path, sent),
    sendDirectly: (path, sent) => sendTo(upstreamUrl, path, sent),
  };
  return world;
}
