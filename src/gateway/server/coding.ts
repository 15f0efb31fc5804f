// The codings of `content-encoding`: decodes and encodes bodies in those that Node supports, on Node's thread pool.

import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { BodyCopy } from './body-copy.js';

/** A coding that Node supports. */
export interface Coding {
  readonly createReader: () => Transform;
  readonly createWriter: () => Transform;
}

/** Node supports zstd from 22.15 on. */
const { createZstdDecompress, createZstdCompress } = zlib as {
  readonly createZstdDecompress?: (options: zlib.ZlibOptions) => Transform;
  readonly createZstdCompress?: () => Transform;
};

/** Four times Node's default chunk size, which takes twice as long. */
const READING = { chunkSize: 64 * 1024 };
// Fast rather than small, because a request waits for it. Node's defaults take eight times as long; for Brotli, a hundred times.
const FAST = { level: zlib.constants.Z_BEST_SPEED };
const FAST_BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };

const GZIP: Coding = {
  createReader: () => zlib.createGunzip(READING),
  createWriter: () => zlib.createGzip(FAST),
};
const DEFLATE: Coding = {
  createReader: () => zlib.createInflate(READING),
  createWriter: () => zlib.createDeflate(FAST),
};
const BROTLI: Coding = {
  createReader: () => zlib.createBrotliDecompress(READING),
  createWriter: () => zlib.createBrotliCompress(FAST_BROTLI),
};
const ZSTD: Coding | undefined = createZstdDecompress &&
  createZstdCompress && {
    createReader: () => createZstdDecompress(READING),
    createWriter: () => createZstdCompress(),
  };

const CODINGS: ReadonlyMap<string, Coding | undefined> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', DEFLATE],
  ['br', BROTLI],
  ['zstd', ZSTD],
]);

/**
 * Returns the coding of a body; `'none'` if it is not encoded, `undefined` if Node does not support its coding, or if it has several
 * codings, which no client was seen to use.
 */
export function codingOf(headers: IncomingHttpHeaders): Coding | 'none' | undefined {
  const names = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  return names.length === 0 ? 'none' : CODINGS.get(names.join());
}

/**
 * Decodes a body into memory shared with the engine.
 *
 * @returns `undefined` if the decoded body would exceed `maxBytes`
 * @throws Error if the body is not in this coding, or is cut off
 */
export async function unpack(
  bytes: Uint8Array,
  coding: Coding,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const copy = new BodyCopy(maxBytes);
  const reader = coding.createReader().end(bytes);
  for await (const chunk of reader) if (!copy.add(chunk as Buffer)) return undefined;
  return copy.bytes;
}

/** Encodes a body. */
export function pack(bytes: Uint8Array, coding: Coding): Promise<Buffer> {
  return buffer(coding.createWriter().end(bytes));
}
