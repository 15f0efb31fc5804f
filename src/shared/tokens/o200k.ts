// The o200k encoding of this thread: loaded with the first count, because a density pass needs none. Its tokens
// are a module that the build makes, so that a bundler takes them along.

import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { pieceCounterLoader } from './piece-counter-loader.js';
import type { LoadPieceCounter } from './piece-counter-loader.js';

/** The one counter of this thread: some 40 ms to load, and 4 MB to keep. A failure to load is not remembered. */
export const loadPieceCounter: LoadPieceCounter = pieceCounterLoader(async () => {
  const { O200K_TOKENS } = await import('./o200k-data.js');
  return promisify(brotliDecompress)(Buffer.from(O200K_TOKENS, 'base64'));
});
