// Unusual requests, byte for byte: each gets the answer that it would get without the gateway, or a clear refusal.

import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent, createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { GatewayMode } from '../../../src/gateway/server/options.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { gatewayWorld, listening } from '../../support/gateway-world.js';
import type { GatewayWorld } from '../../support/gateway-world.js';

const BODY = bodyOf(API_TALKS[0]!, talk(API_TALKS[0]!, 4));

/** An upstream with the given request handler, and a gateway in front of it. */
async function upstreamOf(
  listener: RequestListener,
  mode: GatewayMode = 'compact',
): Promise<GatewayWorld> {
  const upstream = createServer(listener);
  const url = await listening(upstream);
  onTestFinished(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  return gatewayWorld({ mode, upstreams: { anthropic: url, openai: url } });
}

/** The head of a request with a body of `length` bytes. */
function headOf(target: string, length: number, more: readonly string[] = []): string {
  const lines = [`POST ${target} HTTP/1.1`, 'Host: 127.0.0.1', `Content-Length: ${length}`];
  return `${[...lines, ...more].join('\r\n')}\r\n\r\n`;
}

const WHOLE = headOf('/v1/messages', BODY.length) + BODY;

function clientOf({ gateway }: GatewayWorld): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sends a request, closes that half of the connection, and returns the whole answer. */
async function said(world: GatewayWorld, request: string): Promise<string> {
  const client = clientOf(world);
  client.end(request, 'latin1');
  return text(client);
}

const CLOSE = ['Connection: close'];
const ignore = (): void => undefined;

describe.each(['observe', 'compact'] as const)('a gateway in mode %s', (mode) => {
  it('answers a client that closes its half of the connection after the request', async () => {
    const world = await gatewayWorld({ mode });
    expect(await said(world, WHOLE)).toMatch(/HTTP\/1\.1 200 OK\r\n[^]*\{\}$/);
    const old = WHOLE.replace('HTTP/1.1', 'HTTP/1.0');
    expect(await said(world, old)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{\}$/);
    const both = await said(world, WHOLE + WHOLE);
    expect(both.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });

  it('aborts the request of a client that disconnects before the answer', async () => {
    const world = await gatewayWorld({ mode });
    const gone: string[] = [];
    const isAsked = new Promise<void>((resolve) => {
      world.answer = (_, response) => {
        response.once('close', () => gone.push('closed'));
        resolve();
      };
    });
    const client = clientOf(world);
    client.write(WHOLE);
    await isAsked;
    client.destroy();
    await expect.poll(() => gone).toEqual(['closed']);
  });

  it('passes on a body with a transfer coding, and its name', async () => {
    const world = await gatewayWorld({ mode });
    const body = gzipSync(BODY).toString('latin1');
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const coded = 'Transfer-Encoding: gzip, chunked';
    const request = headOf('/v1/messages', 0, CLOSE).replace('Content-Length: 0', coded);
    await said(world, request + chunks);
    const [{ headers, body: got }] = world.received as [GatewayWorld['received'][0]];
    expect(headers['transfer-encoding']).toBe('gzip, chunked');
    expect(got.toString('latin1')).toBe(body);
  });
});

describe('a request in the form for a proxy', () => {
  it('is answered if it names the gateway, with or without token', async () => {
    const world = await gatewayWorld();
    const { origin, port } = new URL(world.gateway.url);
    for (const path of ['/v1/messages', '/token/none/v1/messages', `?${port}`]) {
      await said(world, headOf(origin + path, 2, CLOSE) + '{}');
    }
    expect(world.received.map(({ url }) => url)).toEqual(['/v1/messages', '/v1/messages']);
  });

  it('is refused with the reason if it names another host', async () => {
    const world = await gatewayWorld();
    const { port } = new URL(world.gateway.url);
    const others = ['127.0.0.1', '127.0.0.1:1', 'a.invalid', `a.invalid:${port}`, `:@:${port}`];
    for (const other of others) {
      const answer = await said(world, headOf(`http://${other}/v1/messages`, 2) + '{}');
      expect(answer).toMatch(/^HTTP\/1\.1 421 [^]*(?:Expected this machine|base URL)/);
    }
    const tunnel = await said(world, 'CONNECT a.invalid:443 HTTP/1.1\r\nHost: a.invalid\r\n\r\n');
    expect(tunnel).toMatch(/^HTTP\/1\.1 405 /);
    expect(world.received).toEqual([]);
  });
});

it('a gateway answers health checks with a page', async () => {
  const request = 'HEAD /ctxfold HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';
  expect(await said(await gatewayWorld(), request)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
});

it('a gateway redirects to its page from the address with a trailing slash', async () => {
  const { gateway } = await gatewayWorld();
  const { status, url } = await fetch(`${gateway.url}/ctxfold/`);
  expect([status, url]).toEqual([200, `${gateway.url}/ctxfold`]);
});

describe('an upstream', () => {
  it('may send interim answers, which are passed on to clients that know them', async () => {
    const world = await upstreamOf((_, response) => {
      response.writeContinue();
      response.writeEarlyHints({ link: '</a>; rel=preload', 'x-hint': 'yes' });
      response.writeProcessing();
      response.end('fine');
    });
    const answer = await said(world, headOf('/v1/messages', 2, CLOSE) + '{}');
    expect(answer.match(/HTTP\/1\.1 \d+/g)?.filter((line) => !line.endsWith('100'))).toEqual(
      [103, 102, 200].map((status) => `HTTP/1.1 ${status}`),
    );
    expect(answer).toMatch(/103 Early Hints\r\nLink: <\/a>; rel=preload\r\nx-hint: yes\r\n\r\n/);
    const old = headOf('/v1/messages', 2).replace('HTTP/1.1', 'HTTP/1.0');
    expect(await said(world, `${old}{}`)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*fine$/);
  });

  /** Sends a part of an answer, then closes the connection. */
  const closeAfter =
    (part: string) =>
    ({ socket }: IncomingMessage): void => {
      socket.write(part, () => socket.destroy());
    };

  it.each([
    ['is asked again if it resets a kept connection at once', 0, [200, 200], 3, undefined],
    ['is not asked again if it may have processed the request', 2_000, [200, 502], 2, undefined],
    [
      'is not asked again once its answer has begun',
      0,
      [200, 502],
      2,
      closeAfter('HTTP/1.1 200 OK\r\nCo'),
    ],
    [
      'is not asked again after an interim answer',
      0,
      [200, 502],
      2,
      closeAfter('HTTP/1.1 102 \r\n\r\n'),
    ],
  ])('%s', async (_, afterMs, statuses, asked, close) => {
    let timeMs = performance.now();
    const now = vi.spyOn(performance, 'now').mockImplementation(() => timeMs);
    onTestFinished(() => now.mockRestore());
    let count = 0;
    const world = await upstreamOf((request, response) => {
      count += 1;
      request.resume();
      if (count !== 2) return void response.end('fine');
      timeMs += afterMs;
      if (close === undefined) request.socket.resetAndDestroy();
      else close(request);
    });
    const got: number[] = [];
    for (const body of [BODY, BODY]) got.push((await world.send('/v1/messages', { body })).status);
    expect([got, count]).toEqual([statuses, asked]);
  });

  it.each([
    ['observe', 'GET', '/v1/models', ''],
    ['observe', 'POST', '/v1/messages', BODY],
    ['compact', 'GET', '/v1/models', ''],
    ['compact', 'POST', '/v1/files', BODY],
  ] as const)(
    'is asked again if it resets a kept connection, in mode %s, for %s %s',
    async (mode, method, path, body) => {
      const got: string[] = [];
      const world = await upstreamOf((asked, response) => {
        if (got.length === 1) {
          got.push('reset');
          return void asked.socket.resetAndDestroy();
        }
        void text(asked).then((all) => {
          got.push(all);
          response.end('fine');
        });
      }, mode);
      for (let at = 0; at < 2; at += 1)
        expect((await world.send(path, { method, body })).status).toBe(200);
      expect(got).toEqual([body, 'reset', body]);
    },
  );

  it('receives a whole body again, with trailers, if the first connection took a part of it', async () => {
    const got: [body: string, trailers: unknown][] = [];
    let heard: (part: string) => void = () => undefined;
    const world = await upstreamOf((asked, response) => {
      if (asked.headers['x-first'] === 'yes' && heard !== ignore) {
        asked.once('data', (part: Buffer) => {
          heard(String(part));
          heard = ignore;
          asked.socket.resetAndDestroy();
        });
        return;
      }
      void text(asked).then((all) => {
        got.push([all, asked.trailers]);
        response.end('fine');
      });
    }, 'observe');
    await world.send('/v1/files');
    const isReset = new Promise<string>((resolve) => (heard = resolve));
    const client = request(`${world.gateway.url}/v1/files`, {
      method: 'POST',
      headers: { 'x-first': 'yes', 'transfer-encoding': 'chunked', trailer: 'x-sum' },
    });
    const answered = once(client, 'response') as Promise<[IncomingMessage]>;
    client.write('first, ');
    expect(await isReset).toBe('first, ');
    client.write('then, ');
    client.addTrailers({ 'x-sum': '1' });
    client.end('last');
    const [answer] = await answered;
    expect([answer.statusCode, await text(answer)]).toEqual([200, 'fine']);
    expect(got).toEqual([
      ['', {}],
      ['first, then, last', { 'x-sum': '1' }],
    ]);
  });

  it('is asked again if it closed a kept connection before a large body was written', async () => {
    const requests: ClientRequest[] = [];
    const note = (message: unknown): void => {
      requests.push((message as { request: ClientRequest }).request);
    };
    subscribe('http.client.request.start', note);
    onTestFinished(() => void unsubscribe('http.client.request.start', note));
    let count = 0;
    const world = await upstreamOf((request, response) => {
      count += 1;
      request.resume();
      if (count !== 2) return void response.end('fine');
      requests.at(-1)?.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    });
    for (const body of [BODY, BODY])
      expect((await world.send('/v1/messages', { body })).status).toBe(200);
    expect(count).toBe(3);
  });
});

it('a gateway keeps the order of answers to pipelined requests, however many', async () => {
  const warned = vi.spyOn(process, 'emitWarning');
  onTestFinished(() => warned.mockRestore());
  const world = await gatewayWorld({ mode: 'compact' });
  const slow = new Promise<void>((resolve) => {
    world.answer = ({ url }, response) => {
      if (url === '/v1/models') {
        response.end('second');
        resolve();
      } else void slow.then(() => response.end('first'));
    };
  });
  const last = 'GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';
  const client = clientOf(world);
  client.write(WHOLE.repeat(20) + last);
  expect(await text(client)).toMatch(/^(?:[^]*first){20}[^]*second$/);
  expect(warned).not.toHaveBeenCalled();
});

it.each(['h2c', 'websocket'])(
  'a gateway answers an offer of %s after the requests before it',
  async (offer) => {
    const world = await gatewayWorld({ mode: 'compact' });
    world.answer = ({ url }, response) => {
      setTimeout(() => response.end(url), url === '/v1/models' ? 0 : 50);
    };
    const target = offer === 'h2c' ? '/v1/models' : '/v1/responses';
    const last = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: ${offer}\r\nConnection: Upgrade, close\r\n\r\n`;
    const client = clientOf(world);
    client.write(WHOLE.repeat(2) + last);
    const answers =
      offer === 'h2c'
        ? /^(?:[^]*\/v1\/messages){2}[^]*\/v1\/models/
        : /^(?:[^]*\/v1\/messages){2}HTTP\/1.1 426/;
    expect(await text(client)).toMatch(answers);
  },
);

it('a gateway closes after its open answers, and waits neither for its page nor for idle connections', async () => {
  const world = await gatewayWorld();
  let finish = (): unknown => undefined;
  world.answer = (_, response) => {
    response.write('first');
    finish = () => response.end(' last');
  };
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
  });
  const open = async (method: string, path: string): Promise<IncomingMessage> => {
    const sent = request(world.gateway.url + path, { method, agent });
    sent.end();
    const [head] = (await once(sent, 'response')) as [IncomingMessage];
    return head;
  };
  const page = text(await open('GET', '/ctxfold/events'));
  const answer = await open('POST', '/v1/messages');
  // Longer than the timeout of a test.
  const closed = world.gateway.close(60_000);
  expect(await page).toContain('event: status');
  finish();
  expect(await text(answer)).toBe('first last');
  await closed;
});

it('a gateway that closes takes one more request at most from each connection', async () => {
  const world = await gatewayWorld();
  const open: Parameters<RequestListener>[1][] = [];
  world.answer = (_, response) => open.push(response);
  const [begun, waiting] = [clientOf(world), clientOf(world)];
  for (const [at, client] of [begun, waiting].entries()) {
    client.write(WHOLE);
    await expect.poll(() => open.length).toBe(at + 1);
  }
  open[0]!.write('first');
  await once(begun, 'readable');
  // Longer than the timeout of a test.
  const closed = world.gateway.close(60_000);
  begun.write(WHOLE);
  await expect.poll(() => open.length).toBe(3);
  for (const response of open) response.end('last');
  expect((await text(begun)).match(/^connection: .*$/gim)).toEqual([
    'Connection: keep-alive',
    'Connection: close',
  ]);
  expect((await text(waiting)).match(/^connection: .*$/gim)).toEqual(['Connection: close']);
  await closed;
});

it('a gateway aborts open answers after the given time', async () => {
  const world = await gatewayWorld();
  world.answer = (_, response) => response.write('first');
  const sent = request(`${world.gateway.url}/v1/messages`, { method: 'POST' });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const cut = expect(text(answer)).rejects.toThrow('aborted');
  await world.gateway.close(1);
  await cut;
});
