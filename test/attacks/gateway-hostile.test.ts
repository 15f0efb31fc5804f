// Malformed, hostile, slow and truncated requests and responses through a gateway: the client gets the same result as
// without it, or a clear error by the gateway. Nothing hangs or stays open, and the next request is served.

import fc from 'fast-check';
import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../src/gateway/start-gateway.js';
import type { Gateway } from '../../src/gateway/server/gateway.js';
import { API_TALKS, bodyOf, talk } from '../support/api-talks.js';
import { gatewayWorld, listening } from '../support/gateway-world.js';
import { runs } from '../support/scale.js';

/** Everything that a client can observe. */
interface Outcome {
  readonly status: number | undefined;
  readonly body: string;
  readonly trailers: readonly string[];
  readonly isWhole: boolean;
}

/** Ends hanging clients. */
const CLIENT_DEADLINE_MS = 60_000;

function ask(base: string, body: string, path: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let status: number | undefined;
    let text = '';
    const late = setTimeout(
      () => reject(new Error('The client waits for ever.')),
      CLIENT_DEADLINE_MS,
    );
    const end = (isWhole: boolean, trailers: readonly string[] = []): void => {
      clearTimeout(late);
      resolve({ status, body: text, trailers, isWhole });
    };
    const asked = request(`${base}${path}`, { method: 'POST', agent: false }, (answer) => {
      status = answer.statusCode;
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      answer.on('end', () => end(answer.complete, answer.rawTrailers));
      answer.on('error', () => end(false));
    });
    asked.on('error', () => end(false));
    asked.end(body);
  });
}

/** The chunks of an upstream's response, and how it ends. */
interface Script {
  readonly pieces: readonly string[];
  readonly ending: 'end' | 'reset';
}

const BODY = '{"usage":{"input_tokens":1}}';
const heads = fc.constantFrom(
  'HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 529 Site is overloaded\r\nContent-Length: 28\r\nRetry-After: 3\r\n\r\n',
  'HTTP/1.1 400 Bad Request\r\nContent-Length: 28\r\nContent-Encoding: gzip\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 999 Odd\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 200 OK\u0001\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTrailer: X-End\r\nContent-Length: 28\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nTrailer: X-End\r\n\r\n',
  'HTTP/1.1 99999 Odd\r\n\r\n',
  'HTTP/9.9 200 OK\r\n\r\n',
  'HTTP/1.1 200 OK\r\nBad Header : x\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n',
  `HTTP/1.1 200 OK\r\nX-Large: ${'a'.repeat(70_000)}\r\n\r\n`,
  'no http at all\r\n\r\n',
  '',
);
const bodies = fc.constantFrom(
  BODY,
  BODY.slice(0, 9),
  '1c\r\n' + BODY + '\r\n0\r\nX-End: yes\r\n\r\n',
  '1c\r\n' + BODY + '\r\n0\r\n',
  'zz\r\nno chunk\r\n',
  'ffffffffffffffff\r\n',
  '',
);
const script = fc
  .record({
    head: heads,
    body: bodies,
    cuts: fc.array(fc.nat(100), { maxLength: 3 }),
    ending: fc.constantFrom('end', 'end', 'reset'),
  })
  .map(({ head, body, cuts, ending }): Script => {
    const whole = head + body;
    const places = [
      0,
      ...cuts.map((cut) => Math.floor((cut / 100) * whole.length)).sort((a, b) => a - b),
      whole.length,
    ];
    return {
      pieces: places.slice(1).map((to, at) => whole.slice(places[at], to)),
      ending: ending,
    };
  });

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** An upstream that answers each request by a script. */
async function scriptedUpstream(): Promise<{ url: string; play: (script: Script) => void }> {
  let current: Script = { pieces: [], ending: 'end' };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let heard = '';
    let isPlayed = false;
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      const [head, body] = heard.split('\r\n\r\n', 2);
      const length = Number(/content-length: *(\d+)/i.exec(head!)?.[1] ?? 0);
      if (isPlayed || body === undefined || body.length < length) return;
      isPlayed = true;
      void play(socket, current);
    });
  });
  const url = await listening(server);
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url, play: (script) => (current = script) };
}

async function play(socket: Socket, { pieces, ending }: Script): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (piece !== '') await new Promise((resolve) => socket.write(piece, 'latin1', resolve));
    await nextTurn();
  }
  if (ending === 'end') socket.end();
  else socket.resetAndDestroy();
}

describe('hostile answers', () => {
  it('reach the client as without the gateway, or as a 502 where there was none', async () => {
    const upstream = await scriptedUpstream();
    const gateways: Gateway[] = [];
    for (const mode of ['observe', 'compact'] as const) {
      gateways.push(
        await startGateway({
          engine: 'inline',
          mode,
          upstreams: { anthropic: upstream.url },
        }),
      );
    }
    closing.push(async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
    });
    const [api] = API_TALKS;
    const body = bodyOf(api!, talk(api!, 3));
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.constantFrom('/v1/messages', '/v1/other'),
        async (played, path) => {
          upstream.play(played);
          const direct = await ask(upstream.url, body, path);
          for (const gateway of gateways) {
            const through = await ask(gateway.url, body, `/anthropic${path}`);
            if (direct.status === undefined) {
              // It never sent a valid head.
              expect(through.status).toBe(502);
              expect(through.body).toContain('ctxfold_gateway_error');
            } else if (through.status !== 502 || direct.isWhole) {
              expect(through.status).toBe(direct.status);
              // Bytes after a response without a body, or beyond its announced length, are not forwarded, because a client
              // may then consider the response broken.
              const isEmpty = direct.status === 204 || direct.status === 304;
              const isAnnounced = played.pieces.join('').includes('Content-Length: 28\r\n');
              const isAllThere = isEmpty || (isAnnounced && through.body.length === BODY.length);
              if (!isAllThere) expect(through.isWhole).toBe(direct.isWhole);
              if (direct.isWhole)
                expect([through.body, through.trailers]).toEqual([direct.body, direct.trailers]);
              else
                expect(
                  direct.body.startsWith(through.body) || through.body.startsWith(direct.body),
                ).toBe(true);
            }
          }
        },
      ),
      {
        numRuns: runs(300),
        examples: [
          // Without a length, a truncated response would have looked complete.
          [{ pieces: [`HTTP/1.1 200 OK\r\n\r\n${BODY}`], ending: 'reset' }, '/v1/messages'],
          [{ pieces: [`HTTP/1.1 200 OK\r\n\r\n${BODY}`], ending: 'end' }, '/v1/messages'],
          // Node accepts these when it reads, but throws when it writes them.
          ...['200 OK\u0001\r\n', '200 OK\r\nTrailer: X-End\r\n'].map((head): [Script, string] => [
            { pieces: [`HTTP/1.1 ${head}Content-Length: 28\r\n\r\n${BODY}`], ending: 'end' },
            '/v1/messages',
          ]),
        ],
      },
    );
  });
});

const BODY_TEXT = bodyOf(API_TALKS[0]!, talk(API_TALKS[0]!, 2));
const lines = fc.constantFrom(
  'POST /v1/messages HTTP/1.1',
  'POST /v1/chat/completions HTTP/1.1',
  'GET /ctxfold HTTP/1.1',
  'POST /ctxfold/compact HTTP/1.1',
  'POST /ctxfold/mode HTTP/1.1',
  'GET /ctxfold/original?conversation=%00&edit=-1 HTTP/1.1',
  'POST http://127.0.0.1/v1/messages HTTP/1.1',
  'POST //evil.example/v1/messages HTTP/1.1',
  'CONNECT evil.example:443 HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'POST /v1/messages',
  'POST /v1/mess\0ages HTTP/1.1',
  `GET /${'a'.repeat(100_000)} HTTP/1.1`,
  '\u0016\u0003\u0001\u0002',
);
const headers = fc.subarray([
  'Host: 127.0.0.1',
  'Host: 127.0.0.1',
  'Host: evil.example',
  `Content-Length: ${BODY_TEXT.length}`,
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Expect: 100-continue',
  'Trailer: X-End',
  'Connection: close',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Content-Encoding: gzip',
  'no colon',
  `X-Large: ${'a'.repeat(70_000)}`,
]);
const payloads = fc.constantFrom(
  BODY_TEXT,
  BODY_TEXT.slice(0, 20),
  '',
  '5\r\nhello\r\n0\r\n\r\n',
  '{"messages":[',
  '\0\0\0',
);

describe('hostile requests', () => {
  it('are answered with a status or cut off, and leave nothing open', async () => {
    const world = await gatewayWorld({ mode: 'compact' });
    const { port } = new URL(world.gateway.url);
    const open = new Set<Socket>();
    await fc.assert(
      fc.asyncProperty(
        lines,
        headers,
        payloads,
        fc.boolean(),
        fc.boolean(),
        async (line, given, payload, isSlow, isCut) => {
          const text = `${line}\r\n${given.map((header) => `${header}\r\n`).join('')}\r\n${payload}`;
          const heard = await new Promise<string>((resolve, reject) => {
            const socket = createConnection(Number(port), '127.0.0.1');
            open.add(socket);
            let got = '';
            const late = setTimeout(
              () => reject(new Error(`Waits for ever: ${text.slice(0, 500)}`)),
              CLIENT_DEADLINE_MS,
            );
            socket.on('error', () => undefined);
            socket.on('close', () => {
              clearTimeout(late);
              open.delete(socket);
              resolve(got);
            });
            // A kept-alive connection ends when the client does.
            socket.on('data', (chunk) => {
              got += chunk.toString('latin1');
              if (/\r\n\r\n/.test(got)) setTimeout(() => socket.destroy(), 20);
            });
            void (async () => {
              const step = isSlow ? Math.ceil(text.length / 5) : text.length;
              for (let at = 0; at < text.length && !socket.destroyed; at += step) {
                socket.write(text.slice(at, at + step), 'latin1');
                await nextTurn();
              }
              if (isCut) socket.destroy();
              else socket.end();
            })();
          });
          if (heard !== '') expect(heard).toMatch(/^HTTP\/1\.1 (?:100|200|4\d\d|5\d\d) /);
        },
      ),
      {
        numRuns: runs(300),
        examples: [
          [],
          ['Transfer-Encoding: chunked'],
          ['Connection: Upgrade', 'Upgrade: websocket'],
        ].map((more): [string, string[], string, boolean, boolean] => [
          'POST /v1/messages HTTP/1.1',
          // Node throws when it writes this for a body that is not chunked.
          ['Host: 127.0.0.1', 'Trailer: X-End', ...more],
          '2\r\n{}\r\n0\r\n\r\n',
          false,
          false,
        ]),
      },
    );
    expect(open.size).toBe(0);
    const [api] = API_TALKS;
    expect((await world.send(api!.path, { body: BODY_TEXT })).status).toBe(200);
    expect(JSON.parse(world.received.at(-1)!.body.toString())).toHaveProperty('messages');
    const { host } = new URL(world.upstreamUrl);
    expect(world.received.every(({ headers: sent }) => sent.host === host)).toBe(true);
  });

  it('do not outlive their clients, nor answers their upstreams', async () => {
    const world = await gatewayWorld();
    const gone: string[] = [];
    let begun = (): void => undefined;
    world.answer = (_, response) => {
      response.on('close', () => gone.push(response.writableFinished ? 'finished' : 'aborted'));
      response.write('first');
      begun();
    };
    const [api] = API_TALKS;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const asked = request(`${world.gateway.url}${api!.path}`, { method: 'POST', agent: false });
    asked.on('error', () => undefined);
    asked.end(BODY_TEXT);
    await hasBegun;
    asked.destroy();
    await expect.poll(() => gone).toEqual(['aborted']);
  });
});
