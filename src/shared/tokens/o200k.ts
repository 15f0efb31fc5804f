// This thread's o200k counter, loaded lazily, because a density pass does not count. The tokens are in a generated module, so
// that bundlers include them.

import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { asError, CtxfoldError } from '../errors.js';
import { runSlices, runSlicesInTurns } from '../slices.js';
import { BytePairCounter } from './byte-pair-counter.js';
import { decodeTokenFile } from './token-file.js';

/**
 * Returns the counter of this thread; loads it on the first call, in slices with `pause` between them. Rejects with a
 * `CtxfoldError` `TOKEN_COUNT_FAILED`; the next call tries again.
 */
export type LoadTextCounter = (pause?: () => Promise<void>) => Promise<BytePairCounter>;

/** Makes a `LoadTextCounter` for a token file. */
export function textCounterLoader(read: () => Promise<Uint8Array>): LoadTextCounter {
  let loading: Promise<BytePairCounter> | undefined;
  const load = async (pause?: () => Promise<void>): Promise<BytePairCounter> => {
    try {
      const decoding = decodeTokenFile(await read());
      const tokens = pause ? await runSlicesInTurns(decoding, pause) : runSlices(decoding);
      return new BytePairCounter(tokens);
    } catch (thrown) {
      const cause = asError(thrown);
      throw new CtxfoldError(
        `The o200k tokens that come with ctxfold could not be read (${cause.message}). Install ctxfold ` +
          "anew (in its repository: build it), or choose the tokenizer 'estimate'.",
        'TOKEN_COUNT_FAILED',
        { cause },
      );
    }
  };
  return (pause) => {
    loading ??= load(pause);
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
}

/** Larger than the decompressed file. */
const CHUNK_BYTES = 2 ** 21;

/** Loads o200k: takes about 40 ms once, and 5 MB. */
export const loadTextCounter: LoadTextCounter = textCounterLoader(async () => {
  const compressed = Buffer.from(await loadTokenText(), 'base64');
  // In one chunk: joining several would need the memory twice.
  return promisify(brotliDecompress)(compressed, { chunkSize: CHUNK_BYTES });
});

/** Loads the tokens as shipped: compressed, in base64. */
export async function loadTokenText(): Promise<string> {
  const { O200K_TOKENS } = await import('./o200k-data.js');
  return O200K_TOKENS;
}
