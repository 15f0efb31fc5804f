// The o200k encoding of this thread: loaded with the first count, because a density pass needs none. Its tokens
// are a module that the build makes, so that a bundler takes them along.

import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { textCounterLoader } from './text-counter-loader.js';
import type { LoadTextCounter } from './text-counter-loader.js';

/** More than the file takes. */
const CHUNK_BYTES = 2 ** 21;

/** The one counter of this thread: some 40 ms to load, and 5 MB to keep. A failure to load is not remembered. */
export const loadTextCounter: LoadTextCounter = textCounterLoader(async () => {
  const compressed = Buffer.from(await loadTokenText(), 'base64');
  // In one piece: put together of small ones, they would be in memory twice.
  return promisify(brotliDecompress)(compressed, { chunkSize: CHUNK_BYTES });
});

/** Loads the tokens as they are shipped: compressed, in base64. */
export async function loadTokenText(): Promise<string> {
  const { O200K_TOKENS } = await import('./o200k-data.js');
  return O200K_TOKENS;
}
