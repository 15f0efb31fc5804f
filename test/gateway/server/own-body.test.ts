// How much of a request's body is kept, in case it must be sent again.

import type { ClientRequest, IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

import { OwnBody } from '../../../src/gateway/server/own-body.js';

/** A request whose body is written to it, and upstreams that keep what they are sent. */
function open() {
  const request = Object.assign(new PassThrough(), { rawTrailers: [], complete: true });
  const body = new OwnBody(request as unknown as IncomingMessage);
  const pipe = (): Promise<Buffer> => {
    const upstream = new PassThrough();
    body.pipeTo(upstream as unknown as ClientRequest);
    return buffer(upstream);
  };
  return { request, body, pipe };
}

describe('OwnBody', () => {
  it('is sent again from its start, once', async () => {
    const { request, body, pipe } = open();
    const first = pipe();
    request.end('what the client sends');
    expect((await first).toString()).toBe('what the client sends');
    expect(body.isKept).toBe(true);
    expect((await pipe()).toString()).toBe('what the client sends');
    expect(body.isKept).toBe(false);
  });

  it('is not kept beyond 32 MiB', async () => {
    const { request, body, pipe } = open();
    const first = pipe();
    const chunk = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < 32; sent += 1) request.write(chunk);
    await new Promise(setImmediate);
    request.end('and more');
    expect(await first).toHaveLength(32 * chunk.length + 8);
    expect(body.isKept).toBe(false);
  });
});
