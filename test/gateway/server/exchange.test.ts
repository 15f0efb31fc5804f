// Nothing in ctxfold hinders a request or an answer.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { IncomingMessage, Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEngine } from '../../../src/gateway/engine/engine.js';
import type { Engine, EngineAnswer } from '../../../src/gateway/engine/protocol.js';
import { BodyCopy } from '../../../src/gateway/server/body-copy.js';
import { serve } from '../../../src/gateway/server/gateway.js';
import { completeGatewayOptions } from '../../../src/gateway/server/options.js';
import type { GatewayMode } from '../../../src/gateway/server/options.js';
import { Session } from '../../../src/main/session.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { gatewayWorld, listening, sendTo } from '../../support/gateway-world.js';
import type { ReceivedRequest } from '../../support/gateway-world.js';
import { PLAYS_ALL } from '../../support/scale.js';

const LARGE_MB = PLAYS_ALL ? 100 : 20;
const [anthropic] = API_TALKS;
const BODY = bodyOf(anthropic!, talk(anthropic!, 4));

/** A gateway with the given engine. */
async function gatewayWith(
  parts: Pick<Engine, 'compact'> & Partial<Engine>,
  mode: GatewayMode = 'compact',
  answered = 'fine',
  onReceived = (): void => undefined,
): Promise<{ url: string; received: Buffer[]; close: () => Promise<void> }> {
  const received: Buffer[] = [];
  const upstream: Server = createServer((asked, answer) => {
    void buffer(asked).then((body) => {
      received.push(body);
      onReceived();
      answer.end(answered);
    });
  });
  const upstreamUrl = await listening(upstream);
  const engine = await createEngine({ maxConversations: 1 });
  const options = completeGatewayOptions({
    mode,
    deadlineMs: 50,
    upstreams: { anthropic: upstreamUrl },
  });
  const gateway = await serve(options, { ...engineOf(engine), ...parts });
  onTestFinished(async () => {
    await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
  });
  return { url: gateway.url, received, close: () => gateway.close() };
}

const engineOf = (engine: Engine): Engine => ({
  compact: (call) => engine.compact(call),
  compactOnce: (body) => engine.compactOnce(body),
  report: (conversation, usage) => engine.report(conversation, usage),
  reportRefusal: (...refused) => engine.reportRefusal(...refused),
  noteBoundReasoning: (conversation) => engine.noteBoundReasoning(conversation),
  original: (conversation, edit) => engine.original(conversation, edit),
  close: () => engine.close(),
});

describe('a failing engine', () => {
  const failures: readonly (readonly [name: string, compact: Engine['compact']])[] = [
    ['rejects', () => Promise.reject(new TypeError('no'))],
    ['never comes back', () => new Promise<EngineAnswer>(() => undefined)],
    ['says that it failed', async () => ({ outcome: 'failed', reason: 'x', edits: [] })],
  ];

  it.each(failures)('lets the original bytes be sent: it %s', async (_, compact) => {
    const { url, received } = await gatewayWith({ compact });
    const { status, body } = await sendTo(url, '/v1/messages', { body: BODY });
    expect([status, body.toString()]).toEqual([200, 'fine']);
    expect(received[0]!.toString()).toBe(BODY);
    const state = await sendTo(url, '/ctxfold/state', { method: 'GET' });
    expect(JSON.parse(state.body.toString())).toMatchObject({ failureCount: 1 });
  });
});

it('a gateway closes although an observed request is never read', async () => {
  const { url, close } = await gatewayWith({ compact: () => new Promise(() => {}) }, 'observe');
  await sendTo(url, '/v1/messages', { body: BODY });
  await close();
}, 20_000);

it('the engine is told that a call was sent unedited because its compaction came too late, but not of a side call', async () => {
  const noted: string[] = [];
  const late = [
    { outcome: 'edited', sideOf: { id: 'aside' }, edits: [] },
    { outcome: 'edited', conversation: { id: 'one' }, edits: [] },
  ] as unknown as EngineAnswer[];
  let comeLate = (): void => undefined;
  const { url } = await gatewayWith(
    {
      compact: () => new Promise((resolve) => (comeLate = () => resolve(late.shift()!))),
      noteBoundReasoning: (id) => void noted.push(id),
    },
    'compact',
    'fine',
    // The request has been sent by then.
    () => comeLate(),
  );
  await sendTo(url, '/v1/messages', { body: BODY });
  await sendTo(url, '/v1/messages', { body: BODY });
  await expect.poll(() => noted).toContain('one');
  expect(noted).toEqual(['one']);
});

it('the engine only learns from usage of the messages that it would send', async () => {
  const costs = { sentTokens: 0, cacheReadTokens: 0, requests: 0 };
  const conversation = {
    ...{ id: 'one', name: undefined, api: 'anthropic', model: 'm', isNew: false },
    ...{ isRewritten: false, givenMessages: 1, sentMessages: 1, contextLimit: 1 },
    ...{ cacheTtlMs: undefined, costs: { ...costs, uncompacted: costs } },
  } as unknown as NonNullable<EngineAnswer['conversation']>;
  const learned: string[] = [];
  for (const mode of ['observe', 'compact'] as const) {
    for (const outcome of ['edited', 'unchanged'] as const) {
      const parts = {
        compact: async () => ({ outcome, conversation, edits: [] }),
        report: () => void learned.push(`${mode} ${outcome}`),
      };
      const { url } = await gatewayWith(parts, mode, 'data: {"usage":{"input_tokens":9}}\n\n');
      await sendTo(url, '/v1/messages', { body: BODY });
      await expect
        .poll(async () => (await sendTo(url, '/ctxfold/state', { method: 'GET' })).body.toString())
        .toContain('"inputTokens":9');
    }
  }
  expect(learned).toEqual(['observe unchanged', 'compact edited', 'compact unchanged']);
});

it('an observed body is not copied before it is answered', async () => {
  const added = vi.spyOn(BodyCopy.prototype, 'add');
  onTestFinished(() => added.mockRestore());
  const world = await gatewayWorld({ mode: 'observe' });
  const counts: number[] = [];
  world.answer = (_, response) => {
    counts.push(added.mock.calls.length);
    response.end();
  };
  await sendTo(world.gateway.url, '/v1/messages', { body: BODY });
  await expect.poll(() => added.mock.calls.length).toBeGreaterThan(0);
  expect(counts).toEqual([0]);
});

it.each(['none', 'gzip'] as const)(
  'the costs have every observed request once the gateway is closed, in the coding %s',
  async (coding) => {
    const { gateway, send } = await gatewayWorld();
    const headers = { 'content-encoding': coding === 'none' ? 'identity' : coding };
    await send('/v1/messages', { headers, body: coding === 'none' ? BODY : gzipSync(BODY) });
    await gateway.close();
    expect(gateway.costs().map(({ requests }) => requests)).toEqual([1]);
  },
);

describe.each(['observe', 'compact'] as const)('in mode %s', (mode) => {
  it('the head of an answer is passed on before its first byte arrives, and that before the second', async () => {
    const world = await gatewayWorld({ mode });
    let begin = (): void => undefined;
    let finish = (): void => undefined;
    world.answer = (_, response) => {
      response.flushHeaders();
      begin = () => void response.write('first');
      finish = () => response.end(' last');
    };
    const asked = request(`${world.gateway.url}/v1/messages`, { method: 'POST', agent: false });
    asked.end(BODY);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    begin();
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).toBe('first');
    finish();
    expect((await buffer(answer)).toString()).toBe(' last');
  });

  it('an aborted answer is aborted for the client', async () => {
    const world = await gatewayWorld({ mode });
    world.answer = (_, response) => {
      response.write('first', () => response.destroy());
    };
    await expect(world.send('/v1/messages', { body: BODY })).rejects.toThrow(
      /aborted|hang up|reset/i,
    );
  });

  it('an answer may have as many headers as a request', async () => {
    const world = await gatewayWorld({ mode });
    const large = 'a'.repeat(60_000);
    world.answer = (_, response) => response.writeHead(200, { 'x-large': large }).end();
    const asked = request(`${world.gateway.url}/v1/messages`, {
      ...{ method: 'POST', agent: false, maxHeaderSize: 100_000 },
    });
    asked.end(BODY);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers['x-large']]).toEqual([200, large]);
    answer.resume();
  });

  it('an answer that switches to an unrequested protocol is an error', async () => {
    const world = await gatewayWorld({ mode });
    world.answer = (_, response) =>
      response.socket?.end('HTTP/1.1 101 Odd\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n');
    expect((await world.send('/v1/messages', { body: BODY })).status).toBe(502);
  });

  it('a request without a body is sent without one', async () => {
    const world = await gatewayWorld({ mode });
    const { host, hostname, port } = new URL(world.gateway.url);
    const client = connect(Number(port), hostname);
    onTestFinished(() => void client.destroy());
    client.write(`POST /v1/responses/resp_1/cancel HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await once(client, 'data');
    expect(world.received[0]!.headers).not.toHaveProperty('transfer-encoding');
  });

  it.each(['reads on', 'stops'])(
    'an answer before the end of the body, from an upstream that %s, reaches a client that sends everything first',
    async (how) => {
      const upstream = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        let bytes = 0;
        socket.on('data', (chunk) => {
          const isFirst = bytes < BODY.length && bytes + chunk.length >= BODY.length;
          bytes += chunk.length;
          if (!isFirst) return;
          socket.write('HTTP/1.1 413 Much\r\nContent-Length: 4\r\n\r\nmuch');
          if (how === 'stops') socket.pause();
        });
      });
      const anthropicUrl = await listening(upstream);
      const world = await gatewayWorld({ mode, upstreams: { anthropic: anthropicUrl } });
      const { host, hostname, port } = new URL(world.gateway.url);
      const client = connect(Number(port), hostname);
      onTestFinished(async () => {
        client.destroy();
        upstream.close();
      });
      const body = Buffer.alloc(30_000_000, ' ');
      client.write(
        `POST /v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      await new Promise((resolve) => client.write(body, resolve));
      const [answered] = (await once(client, 'data')) as [Buffer];
      expect(answered.toString()).toMatch(/^HTTP\/1\.1 413 [^]*much$/);
    },
  );

  it('a client that does not read applies backpressure to its upstream', async () => {
    const world = await gatewayWorld({ mode });
    const chunk = Buffer.alloc(1024 * 1024);
    let written = 0;
    world.answer = (_, response) => {
      const more = (): void => {
        while (written < 200) {
          written += 1;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const asked = request(`${world.gateway.url}/v1/messages`, { method: 'POST', agent: false });
    asked.end(BODY);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.pause();
    let before = -1;
    await expect
      .poll(() => [before, (before = written)][0] === written, { interval: 200 })
      .toBe(true);
    expect(written).toBeLessThan(150);
    asked.destroy();
  });

  it('a compressed answer stays compressed, and its usage is read', async () => {
    const world = await gatewayWorld({ mode });
    const text = JSON.stringify({
      usage: { input_tokens: 11, cache_read_input_tokens: 22, output_tokens: 33 },
    });
    world.answer = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(text));
    };
    const { body, headers } = await world.send('/v1/messages', { body: BODY });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(body).toString()).toBe(text);
    const usage = async (): Promise<unknown> => {
      const { body: state } = await world.send('/ctxfold/state', { method: 'GET' });
      return (JSON.parse(state.toString()) as { conversations: { usage: object }[] })
        .conversations[0]?.usage;
    };
    await expect
      .poll(usage)
      .toMatchObject({ inputTokens: 11, cacheReadTokens: 22, outputTokens: 33 });
  });

  it.each(['tool_use', 'server_tool_use'])(
    'usage is learned from unless it is a sum: %s',
    async (type) => {
      const learned = vi.spyOn(Session.prototype, 'reportUsage');
      onTestFinished(() => learned.mockRestore());
      // In mode observe, only the usage of requests that would be sent unchanged applies to the compacted request.
      const body = bodyOf(anthropic!, [anthropic!.user('go')]);
      const world = await gatewayWorld({ mode });
      world.answer = (_, response) =>
        response.end(JSON.stringify({ content: [{ type }], usage: { input_tokens: 999 } }));
      const calls = async (): Promise<unknown> => {
        const { body: state } = await world.send('/ctxfold/state', { method: 'GET' });
        return (
          JSON.parse(state.toString()) as { conversations: { recent: { status?: number }[] }[] }
        ).conversations[0]?.recent.map(({ status }) => status);
      };
      for (const statuses of [[200], [200, 200]]) {
        await world.send('/v1/messages', { body });
        await expect.poll(calls).toEqual(statuses);
      }
      expect(learned).toHaveBeenCalledTimes(type === 'tool_use' ? 2 : 0);
    },
  );

  it('a body with a trailer passes with it, unread', async () => {
    let trailers: unknown;
    const upstream = createServer((asked, answer) => {
      void buffer(asked).then((body) => {
        trailers = [body.toString(), asked.trailers];
        answer.end('fine');
      });
    });
    const anthropicUrl = await listening(upstream);
    onTestFinished(() => void upstream.close());
    const world = await gatewayWorld({ mode, upstreams: { anthropic: anthropicUrl } });
    const asked = request(`${world.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { trailer: 'x-sum' },
      agent: false,
    });
    asked.addTrailers({ 'x-sum': '1' });
    asked.end(BODY);
    const [{ statusCode }] = (await once(asked, 'response')) as [IncomingMessage];
    expect(statusCode).toBe(200);
    expect(trailers).toEqual([BODY, { 'x-sum': '1' }]);
    const state = await world.send('/ctxfold/state', { method: 'GET' });
    expect(JSON.parse(state.body.toString())).toMatchObject({
      passed: { 'a body with a trailer': 1 },
    });
  });

  it(`a body of ${LARGE_MB} MB passes`, async () => {
    const world = await gatewayWorld({ mode });
    const digest = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
    const body = Buffer.alloc(LARGE_MB * 1024 * 1024, 'large ');
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      await world.send('/v1/messages', { body, headers });
      expect(digest(world.received.pop()!.body)).toBe(digest(body));
    }
  });

  it.each([
    ['in one line', 400, 'application/json', (refusal: object) => JSON.stringify(refusal)],
    ['over many', 400, 'application/json', (refusal: object) => JSON.stringify(refusal, null, 2)],
    ['with the status of GitHub', 413, 'application/json', JSON.stringify],
    ['as lines of text', 400, 'text/plain', (refusal: object) => `${JSON.stringify(refusal)}\n`],
  ] as const)(
    "a limit in a provider's refusal is learned, written %s",
    async (_, status, type, written) => {
      const world = await gatewayWorld({ mode });
      const message = 'prompt is too long: 210000 tokens > 150000 maximum';
      const refusal = written({ type: 'error', error: { type: 'invalid_request_error', message } });
      world.answer = (_asked, response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(refusal);
      };
      await world.send('/v1/messages', { body: BODY });
      const limit = async (): Promise<unknown> => {
        await world.send('/v1/messages', { body: BODY });
        const { body: state } = await world.send('/ctxfold/state', { method: 'GET' });
        return (
          JSON.parse(state.toString()) as { conversations: { line: { contextLimit: number } }[] }
        ).conversations[0]?.line.contextLimit;
      };
      await expect.poll(limit).toBe(150_000);
    },
  );

  it('a refusal without a body is shown with its status', async () => {
    const world = await gatewayWorld({ mode });
    world.answer = (_, response) => response.writeHead(400, { 'content-length': 0 }).end();
    await world.send('/v1/messages', { body: BODY });
    const status = async (): Promise<unknown> => {
      const { body: state } = await world.send('/ctxfold/state', { method: 'GET' });
      return (
        JSON.parse(state.toString()) as { conversations: { recent: { status: number }[] }[] }
      ).conversations[0]?.recent.at(-1)?.status;
    };
    await expect.poll(status).toBe(400);
  });
});

it.each([
  ['POST', 'HTTP/1.1 204 No Content\r\n\r\nmore', 204],
  ['POST', 'HTTP/1.1 304 Not Modified\r\n\r\n', 304],
  ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', 200],
  ['POST', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nno', 400],
])('the head of an answer arrives, whatever follows it: %s, %j', async (method, head, status) => {
  const upstream = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(head));
  });
  const world = await gatewayWorld({ upstreams: { anthropic: await listening(upstream) } });
  onTestFinished(() => void upstream.close());
  const asked = request(`${world.gateway.url}/v1/messages`, { method, agent: false });
  asked.on('error', () => undefined);
  asked.end(method === 'POST' ? BODY : undefined);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  expect(answer.statusCode).toBe(status);
  answer.resume();
});

describe('a request for an upgrade', () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'eA==',
  };

  it('is answered with 426 where clients fall back to HTTP', async () => {
    const world = await gatewayWorld();
    const { status } = await sendTo(world.gateway.url, '/v1/responses', { method: 'GET', headers });
    expect(status).toBe(426);
    expect(world.received).toEqual([]);
  });

  it('is passed on otherwise, and both ends are connected', async () => {
    const upstream = createServer();
    upstream.on('upgrade', (asked, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Key: ${asked.headers['sec-websocket-key'] ?? ''}\r\n\r\n`,
      );
      socket.pipe(new PassThrough()).pipe(socket);
    });
    const upstreamUrl = await listening(upstream);
    const world = await gatewayWorld({ upstreams: { openai: upstreamUrl } });
    onTestFinished(() => void upstream.close());
    const asked = request(`${world.gateway.url}/v1/realtime?model=m`, { headers, agent: false });
    asked.end();
    const [answer, socket] = (await once(asked, 'upgrade')) as [
      IncomingMessage,
      NodeJS.ReadWriteStream & { destroy: () => void },
    ];
    expect(answer.headers['x-key']).toBe('eA==');
    socket.write('said');
    const [heard] = (await once(socket, 'data')) as [Buffer];
    expect(heard.toString()).toBe('said');
    socket.destroy();
  });

  it('announces no body to an upstream, which would wait for it', async () => {
    const world = await gatewayWorld();
    const announced = { ...headers, 'content-length': '99999999999' };
    const asked = request(`${world.gateway.url}/v1/messages`, {
      ...{ method: 'POST', headers: announced, agent: false },
    });
    asked.on('error', () => undefined);
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    expect(world.received[0]?.headers).not.toHaveProperty('content-length');
    asked.destroy();
  });

  it('gets the refusal of an upstream unchanged, also an aborted one', async () => {
    const upstream = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      const refusal = 'HTTP/1.1 403 No\r\nX-Name: caf\xe9\r\nContent-Length: 9\r\n\r\nno';
      socket.once('data', () => socket.write(refusal, 'latin1', () => socket.destroy()));
    });
    const upstreamUrl = await listening(upstream);
    const world = await gatewayWorld({ upstreams: { openai: upstreamUrl } });
    onTestFinished(() => void upstream.close());
    const { host, hostname, port } = new URL(world.gateway.url);
    const client = connect(Number(port), hostname);
    const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    client.write(`GET /v1/realtime HTTP/1.1\r\nHost: ${host}\r\n${offer}`);
    const said = (await buffer(client)).toString('latin1');
    expect(said).toMatch(/^HTTP\/1\.1 403 No\r\nX-Name: caf\xe9\r\n[^]*\r\n\r\nno$/);
  });

  it('is declined for another protocol: the request is answered in HTTP', async () => {
    for (const mode of ['observe', 'compact'] as const) {
      const world = await gatewayWorld({ mode });
      const { port } = new URL(world.gateway.url);
      const head = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAE\r\nContent-Length: ${BODY.length}\r\n\r\n`;
      const socket = connect(Number(port), '127.0.0.1');
      let heard = '';
      socket.on('data', (chunk) => (heard += chunk.toString()));
      for (let asked = 1; asked <= 2; asked += 1) {
        socket.write(head + BODY.slice(0, 100));
        // The rest arrives after the gateway has read the head.
        await new Promise((resolve) => setTimeout(resolve, 20));
        socket.write(BODY.slice(100));
        await expect.poll(() => heard.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(asked);
      }
      socket.destroy();
      const [{ headers: passed, body }] = world.received as [ReceivedRequest];
      expect(passed).not.toHaveProperty('upgrade');
      expect(passed).not.toHaveProperty('http2-settings');
      if (mode === 'observe') expect(body.toString()).toBe(BODY);
    }
  });

  it('is refused to pages of other sites', async () => {
    const world = await gatewayWorld();
    const foreign = { ...headers, origin: 'https://evil.example' };
    const { status } = await sendTo(world.gateway.url, '/v1/realtime', {
      method: 'GET',
      headers: foreign,
    });
    expect(status).toBe(403);
  });

  it.each(['evil.example', '127.0.0.1'])('may be reset by a client of %s', async (named) => {
    const failures: unknown[] = [];
    const note = (error: unknown): number => failures.push(error);
    process.prependOnceListener('uncaughtException', note);
    const world = await gatewayWorld();
    const { port } = new URL(world.gateway.url);
    const client = connect(Number(port), '127.0.0.1');
    const offer = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    client.write(`GET /v1/responses HTTP/1.1\r\nHost: ${named}\r\n${offer}`);
    const [refusal] = (await once(client, 'data')) as [Buffer];
    expect(refusal.toString()).toMatch(/^HTTP\/1\.1 42[16] /);
    client.resetAndDestroy();
    const { status } = await sendTo(world.gateway.url, '/v1/responses', { method: 'GET', headers });
    expect(status).toBe(426);
    process.off('uncaughtException', note);
    expect(failures).toEqual([]);
  });
});

describe('a connection to an upstream', () => {
  it('is closed after some idle seconds', async () => {
    let open = 0;
    const upstream = createServer((_, answer) => answer.end('fine'));
    upstream.keepAliveTimeout = 0;
    upstream.on('connection', (socket) => {
      open += 1;
      socket.once('close', () => (open -= 1));
    });
    const upstreamUrl = await listening(upstream);
    onTestFinished(() => void upstream.close());
    const world = await gatewayWorld({ upstreams: { openai: upstreamUrl } });
    for (let at = 0; at < 2; at += 1) await world.send('/v1/models', { method: 'GET' });
    expect(open).toBe(1);
    await expect.poll(() => open).toBe(0);
  });

  it('is replaced once by a new one if it was kept alive and is reset', async () => {
    const waiting: (() => unknown)[] = [];
    const world = await gatewayWorld({ mode: 'compact' });
    world.answer = (_, response) => waiting.push(() => response.end('fine'));
    const asked = Array.from({ length: 6 }, () => world.send('/v1/messages', { body: BODY }));
    await expect.poll(() => waiting.length).toBe(6);
    for (const answer of waiting) answer();
    await Promise.all(asked);
    world.received.length = 0;
    world.answer = (_, response) => response.socket?.resetAndDestroy();
    const { status } = await world.send('/v1/messages', { body: BODY });
    expect([status, world.received.length]).toEqual([502, 2]);
    world.answer = (_, response) =>
      world.received.length === 3 ? response.socket?.resetAndDestroy() : response.end('fine');
    expect((await world.send('/v1/messages', { body: BODY })).status).toBe(200);
  });
});
