// Request bodies with a content coding: decoded if Node can, and sent in the same coding.

import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { gatewayWorld } from '../../support/gateway-world.js';
import type { GatewayWorld } from '../../support/gateway-world.js';

const [anthropic] = API_TALKS;
const BODY = Buffer.from(bodyOf(anthropic!, talk(anthropic!, 24)));

type Code = (bytes: Uint8Array) => Buffer;
const { zstdCompressSync, zstdDecompressSync } = zlib as {
  zstdCompressSync?: Code;
  zstdDecompressSync?: Code;
};
const CODINGS: readonly (readonly [name: string, write: Code, read: Code])[] = [
  ['gzip', zlib.gzipSync, zlib.gunzipSync],
  ['X-GZip', zlib.gzipSync, zlib.gunzipSync],
  ['deflate', zlib.deflateSync, zlib.inflateSync],
  ['identity, BR', zlib.brotliCompressSync, zlib.brotliDecompressSync],
  ...(zstdCompressSync && zstdDecompressSync
    ? [['zstd', zstdCompressSync, zstdDecompressSync] as const]
    : []),
];

/** Sends a body in a coding; returns the body that the upstream received. */
async function passedOn(world: GatewayWorld, body: Uint8Array, coding: string): Promise<Buffer> {
  const headers = { 'content-encoding': coding };
  expect((await world.send(anthropic!.path, { body, headers })).status).toBe(200);
  const got = world.received.at(-1)!;
  expect(got.headers).toMatchObject({
    'content-encoding': coding,
    'content-length': String(got.body.length),
  });
  return got.body;
}

async function stateOf(
  world: GatewayWorld,
): Promise<{ passed: object; failureCount: number; conversations: { bytes: number }[] }> {
  const { body } = await world.send('/ctxfold/state', { method: 'GET' });
  return JSON.parse(body.toString()) as Awaited<ReturnType<typeof stateOf>>;
}

describe.each(CODINGS)('a body in the coding %s', (name, write, read) => {
  it('is compacted as without it, and sent in the same coding', async () => {
    const plain = await gatewayWorld({ mode: 'compact' });
    await plain.send(anthropic!.path, { body: BODY });
    const expected = plain.received[0]!.body;
    expect(expected.length).toBeLessThan(BODY.length * 0.7);
    const world = await gatewayWorld({ mode: 'compact' });
    const got = read(await passedOn(world, write(BODY), name));
    expect(got.equals(expected)).toBe(true);
    expect((await stateOf(world)).conversations).toMatchObject([{ bytes: BODY.length }]);
  });

  it.each(['observe', 'compact'] as const)(
    'is sent as the same bytes if nothing is edited, in mode %s',
    async (mode) => {
      const world = await gatewayWorld({ mode });
      const body = write(mode === 'observe' ? BODY : Buffer.from(bodyOf(anthropic!, [])));
      expect((await passedOn(world, body, name)).equals(body)).toBe(true);
      if (mode === 'observe')
        await expect
          .poll(async () => (await stateOf(world)).conversations)
          .toMatchObject([{ bytes: BODY.length }]);
    },
  );

  it('is sent unchanged if it cannot be decoded, or is too large decoded', async () => {
    const world = await gatewayWorld({ mode: 'compact', maxBodyBytes: BODY.length - 1 });
    const cut = write(BODY.subarray(0, 10_000)).subarray(0, -3);
    const bomb = write(Buffer.alloc(1_000_000));
    for (const body of [BODY.subarray(0, 100), cut, write(BODY), bomb])
      expect((await passedOn(world, body, name)).equals(body)).toBe(true);
    expect(await stateOf(world)).toMatchObject({
      failureCount: 0,
      passed: {
        'a body that is too large': 2,
        'a body that is not in the coding that it names': 2,
      },
    });
  });
});

it.each([
  'aws-chunked',
  'constructor',
  'gzip, gzip',
  ...(zstdCompressSync === undefined ? ['zstd'] : []),
])('a body in the coding %s is sent unread, which the page and the log report', async (name) => {
  const warned: string[] = [];
  const logger = {
    debug: () => undefined,
    warn: (message: string) => void warned.push(message),
    error: () => undefined,
  };
  const world = await gatewayWorld({ mode: 'compact', logger });
  const body = zlib.gzipSync(zlib.gzipSync(BODY));
  for (let turn = 0; turn < 2; turn += 1)
    expect((await passedOn(world, body, name)).equals(body)).toBe(true);
  expect(Object.keys((await stateOf(world)).passed)).toEqual([
    expect.stringMatching(/^a body in a coding that Node [\d.]+ does not read/),
  ]);
  expect(warned).toHaveLength(1);
});
