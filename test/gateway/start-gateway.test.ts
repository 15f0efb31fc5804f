import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createConnection, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatewayOptions } from '../../src/gateway/server/options.js';
import { startGateway } from '../../src/gateway/start-gateway.js';
import { API_TALKS, bodyOf, talk } from '../support/api-talks.js';
import { gatewayWorld, listening, sendTo } from '../support/gateway-world.js';
import type { GatewayWorld } from '../support/gateway-world.js';
import { length } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

let world: GatewayWorld;

async function start(options: GatewayOptions = {}): Promise<GatewayWorld> {
  world = await gatewayWorld(options);
  return world;
}

describe('a gateway', () => {
  describe.each(API_TALKS)('for $name', (api) => {
    it('passes on the same bytes in mode observe', async () => {
      await start();
      const messages = talk(api, 12);
      for (let end = 3; end <= messages.length; end += 2) {
        const body = bodyOf(api, messages.slice(0, end));
        await world.send(api.path, { body, headers: { 'content-type': 'application/json' } });
        expect(world.received.at(-1)!.body.toString()).toBe(body);
        expect(world.received.at(-1)!.url).toBe(api.path);
      }
    });

    it('sends less in mode compact, with everything besides the messages unchanged', async () => {
      await start({ mode: 'compact' });
      const messages = talk(api, length(40, 16));
      let given = 0;
      let sent = 0;
      for (let end = 3; end <= messages.length; end += 2) {
        const body = bodyOf(api, messages.slice(0, end), { metadata: { n: '1.50' } });
        // Spelling that a parser would not preserve.
        const odd = body.replace('"1.50"', '1.50, "big": 12345678901234567890');
        await world.send(api.path, { body: odd });
        const { body: got } = world.received.at(-1)!;
        given += odd.length;
        sent += got.length;
        const [before, after] = [odd, got.toString()].map((text) => text.split(`"${api.list}":[`));
        expect(after![0]).toBe(before![0]);
        expect(got.toString()).toMatch(/"n":1\.50, "big": 12345678901234567890\}\}$/);
        const list = (JSON.parse(got.toString()) as Record<string, unknown[]>)[api.list]!;
        expect(list.length).toBeLessThanOrEqual(end);
      }
      expect(sent / given).toBeLessThan(0.6);
    });
  });

  it('passes on bodies unchanged that are too large, also only after decompression, or no JSON', async () => {
    await start({ mode: 'compact', maxBodyBytes: 50_000 });
    const [api] = API_TALKS;
    const large = bodyOf(api!, talk(api!, 60));
    for (const [body, headers] of [
      [gzipSync(large), { 'content-encoding': 'gzip' }],
      [Buffer.from('{"messages":[{]}'), {}],
      [Buffer.from(large), {}],
      [Buffer.from(large), { 'transfer-encoding': 'chunked' }],
      [Buffer.from('{"messages":"none"}'), {}],
      [Buffer.from([0xff, 0xfe, 0x00]), {}],
      [Buffer.alloc(0), {}],
    ] as const) {
      await world.send(api!.path, { body, headers });
      expect(world.received.at(-1)!.body.equals(body)).toBe(true);
    }
  });

  it.each([
    { authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=b' },
    { authorization: 'Signature keyId="a"' },
    { 'x-amz-content-sha256': 'a' },
    { 'content-digest': 'sha-256=:a:' },
    { 'content-md5': 'a' },
    { signature: 'a=:b:' },
  ])('edits no signed request: %o', async (headers) => {
    await start({ mode: 'compact' });
    const [api] = API_TALKS;
    const body = bodyOf(api!, talk(api!, 24));
    await world.send(api!.path, { body });
    expect(world.received[0]!.body.length).toBeLessThan(body.length);
    await world.send(api!.path, { body, headers: { ...headers } });
    expect(world.received[1]!.body.toString()).toBe(body);
  });

  it("compacts conversations of Ollama's own API, whose calls have no ids", async () => {
    await start({ mode: 'compact', upstreams: { ollama: 'http://127.0.0.1:1' } });
    const other = await gatewayWorld({ mode: 'compact', upstreams: { ollama: world.upstreamUrl } });
    const text = Array.from({ length: 80 }, (_, at) => `line ${at} of the file`).join('\n');
    const call = (name: string, given: object) => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ function: { name, arguments: { path: 'a.ts', ...given } } }],
    });
    const messages: object[] = [{ role: 'user', content: 'make it work' }];
    for (let turn = 0; turn < 8; turn += 1) {
      messages.push(call('read_file', {}), { role: 'tool', tool_name: 'read_file', content: text });
      messages.push(call('write_file', { content: `new ${turn}` }), {
        ...{ role: 'tool', tool_name: 'write_file', content: 'written' },
      });
    }
    const body = JSON.stringify({ model: 'qwen3', tools: [{ type: 'function' }], messages });
    await sendTo(other.gateway.url, '/ollama/api/chat', { body });
    const got = JSON.parse(world.received[0]!.body.toString()) as { messages: object[] };
    expect(JSON.stringify(got).length).toBeLessThan(body.length / 2);
    const roles = got.messages.map((message) => (message as { role: string }).role);
    expect(roles.join(' ')).toMatch(/^user(?: assistant tool)+$/);
  });

  it('accepts the requests that its OpenAPI page describes, and no others', async () => {
    await start();
    const { body: page } = await world.send('/ctxfold/openapi.json', { method: 'GET' });
    const { components } = JSON.parse(page.toString()) as {
      components: { schemas: { CompactRequest: { anyOf: { required: string[] }[] } } };
    };
    for (const api of API_TALKS) {
      const messages = talk(api, 2);
      const lists = [{}, { messages }, { [api.list]: messages }];
      for (const given of lists.flatMap((list) => [list, { ...list, format: api.name }])) {
        const isDescribed = components.schemas.CompactRequest.anyOf.some(({ required }) =>
          required.every((name) => name in given),
        );
        const body = JSON.stringify({ format: null, model: null, contextLimit: null, ...given });
        const { status } = await world.send('/ctxfold/compact', { body });
        expect([given, status]).toEqual([given, isDescribed ? 200 : 400]);
      }
    }
  });

  it('says of an encoded body on a page of its own that it is to be sent as it is', async () => {
    await start();
    const [api] = API_TALKS;
    const body = gzipSync(JSON.stringify({ format: api!.name, messages: talk(api!, 2) }));
    const headers = { 'content-encoding': 'gzip' };
    const { status, body: said } = await world.send('/ctxfold/compact', { body, headers });
    expect([status, said.toString()]).toEqual([415, expect.stringContaining('content-encoding')]);
    expect((await world.send('/ctxfold/state', { method: 'GET' })).status).toBe(200);
  });

  it('passes on status, headers in their order and spelling, and trailers', async () => {
    await start();
    world.answer = (_, response) => {
      response.sendDate = false;
      response.writeHead(429, 'Slow Down', [
        'Retry-After',
        '7',
        'X-Odd',
        'a',
        'x-odd',
        'b \u00e9',
        'Trailer',
        'X-End',
      ]);
      response.write('{"error":');
      response.addTrailers({ 'X-End': 'yes' });
      response.end('"slow"}');
    };
    const through = await world.send('/v1/messages', { body: '{}', headers: { 'X-Own': 'kept' } });
    const direct = await world.sendDirectly('/v1/messages', { body: '{}' });
    expect(through).toEqual(direct);
    expect(through.rawTrailers).toEqual(['X-End', 'yes']);
    expect(world.received[0]!.rawHeaders).toContain('X-Own');
  });

  it.each([
    ['', '/messages', '/v1/messages'],
    ['', '/v1/messages', '/v1/messages'],
    ['', '/api/event', '/api/event'],
    ['/v1', '/messages', '/v1/messages'],
    ['/v1', '/v1/messages', '/v1/messages'],
    ['/own', '/messages', '/own/messages'],
  ])('sends to the Anthropic upstream %j a request for %s as %s', async (base, path, asked) => {
    await start();
    const upstreams = { anthropic: `${world.upstreamUrl}${base}` };
    const other = await startGateway({ engine: 'inline', upstreams });
    await sendTo(other.url, `/anthropic${path}?beta=true`, { body: '{}' });
    await other.close();
    expect(world.received.at(-1)!.url).toBe(`${asked}?beta=true`);
  });

  it('reaches an upstream through a proxy if Node can, unless it is exempt', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer().on('connect', ({ url }, socket: Duplex) => {
      asked.push(url);
      socket.end('HTTP/1.1 403 No\r\n\r\n');
    });
    const proxyEnv = { HTTPS_PROXY: await listening(proxy), NO_PROXY: 'exempt.invalid' };
    const upstreams = { anthropic: 'https://a.invalid', openai: 'https://exempt.invalid' };
    await start({ upstreams, proxyEnv });
    for (const path of ['/anthropic/v1/messages', '/openai/responses'])
      expect((await world.send(path, { body: '{}' })).status).toBe(502);
    const canProxy = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');
    expect(asked).toEqual(canProxy ? ['a.invalid:443'] : []);
    await new Promise((resolve) => proxy.close(resolve));
  });

  it('sends requests only to its upstreams, and says so', async () => {
    await start();
    for (const path of ['http://example.com/v1/messages', '/../etc', '/openai/..%2f..%2fx']) {
      const { port } = new URL(world.gateway.url);
      const text = await new Promise<string>((resolve) => {
        const socket = createConnection(Number(port), '127.0.0.1');
        let got = '';
        socket.on('data', (chunk) => (got += String(chunk)));
        socket.on('close', () => resolve(got));
        socket.end(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
      });
      expect(text).toMatch(/^HTTP\/1\.1 4(?:04|21) /);
    }
    expect(world.received).toEqual([]);
  });

  it('refuses host names that resolve to its address, and pages of other sites', async () => {
    await start();
    const asked = [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of asked) {
      const { status } = await world.send('/v1/messages', { headers, body: '{}' });
      expect([403, 421]).toContain(status);
    }
    expect(world.received).toEqual([]);
    const { status } = await world.send('/v1/messages', {
      headers: { host: 'LocalHost:1' },
      body: '{}',
    });
    expect(status).toBe(200);
  });

  it('requires its token if it has one, and passes it to nobody', async () => {
    await expect(gatewayWorld({ host: '0.0.0.0' })).rejects.toThrow(/token/);
    const token = 'a-token-of-16-or-more';
    await start({ token });
    const { origin } = new URL(world.gateway.url);
    expect(world.gateway.url).toBe(`${origin}/token/${token}`);
    expect((await sendTo(origin, '/v1/messages')).status).toBe(401);
    expect((await sendTo(origin, '/token/wrong/v1/messages')).status).toBe(401);
    expect((await world.send('/v1/messages')).status).toBe(200);
    const headers = { 'x-ctxfold-token': token };
    expect((await sendTo(origin, '/v1/messages', { headers })).status).toBe(200);
    expect(world.received.map(({ url }) => url)).toEqual(['/v1/messages', '/v1/messages']);
    expect(JSON.stringify(world.received.map(({ rawHeaders }) => rawHeaders))).not.toContain(token);
  });

  it('answers with its own error when an upstream cannot be reached', async () => {
    await start({ upstreams: { anthropic: 'http://127.0.0.1:1' } });
    const { status, body } = await world.send('/v1/messages', { body: '{}' });
    expect(status).toBe(502);
    expect(JSON.parse(body.toString())).toMatchObject({ error: { type: 'ctxfold_gateway_error' } });
  });

  it('starts, and says so, if its store or its removal logs cannot be written', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const below = join(file, 'below');
    const warn = vi.fn<(message: string) => void>();
    const logger = { debug: () => undefined, warn, error: () => undefined };
    await start({ store: below, removalLogDirectory: below, logger });
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/^The store failed \(ENOTDIR.+: check the path\. Until it works, /),
      expect.stringMatching(/^The removal log .+ could not be written \(ENOTDIR\)\. /),
    ]);
    expect((await world.send('/v1/messages')).status).toBe(200);
    await start({ removalLogDirectory: file, logger });
    expect(warn.mock.lastCall?.[0]).toMatch(
      /^The removal log .+ could not be written \(EEXIST\)\. /,
    );
    const [store, removalLogDirectory] = [temporaryFolder(), temporaryFolder()];
    await start({ store, removalLogDirectory, logger });
    expect(warn).toHaveBeenCalledTimes(3);
    expect(await readdir(store)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('tries whether its store can be written', async () => {
    const warn = vi.fn<(message: string) => void>();
    const logger = { debug: () => undefined, warn, error: () => undefined };
    // Nothing is there, which can be read and deleted, and it cannot be created.
    await start({ store: '/proc/none', logger });
    expect(warn.mock.lastCall?.[0]).toMatch(/^The store failed \(ENOENT/);
  });

  it('starts without its store if that does not answer', async () => {
    const silent = createTcpServer((socket) => socket.resume().on('error', () => undefined));
    const url = await listening(silent);
    onTestFinished(() => void silent.close());
    const warn = vi.fn<(message: string) => void>();
    const logger = { debug: () => undefined, warn, error: () => undefined };
    await start({ store: url.replace('http', 'redis'), logger });
    expect(warn.mock.lastCall?.[0]).toMatch(/^The store failed \(no answer within 3 s\)\. /);
  });

  it('shares conversations with other gateways through a store, and sends what a single gateway would', async () => {
    const store = temporaryFolder();
    const [api] = API_TALKS;
    const messages = talk(api!, length(30, 12));
    const sentBy = async (worlds: readonly GatewayWorld[], key: string): Promise<string[]> => {
      const bodies: string[] = [];
      for (let end = 3, turn = 0; end <= messages.length; end += 2, turn += 1) {
        const one = worlds[turn % worlds.length]!;
        const headers = { 'x-api-key': key };
        await one.send(api!.path, { body: bodyOf(api!, messages.slice(0, end)), headers });
        bodies.push(one.received.at(-1)!.body.toString());
      }
      return bodies;
    };
    await start({ mode: 'compact' });
    const expected = await sentBy([world], 'a');
    expect(expected.at(-1)!.length).toBeLessThan(bodyOf(api!, messages).length * 0.7);
    const fleet = await Promise.all([1, 2].map(() => gatewayWorld({ mode: 'compact', store })));
    const got = await sentBy(fleet, 'a');
    const differing = got.flatMap((body, turn) => (body === expected[turn] ? [] : [turn]));
    expect(differing).toEqual([]);
    // For another user it is another conversation, whatever its content.
    await sentBy(fleet, 'b');
    expect(await readdir(store)).toHaveLength(2);
  });
});
