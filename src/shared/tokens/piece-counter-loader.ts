// Makes the counter of a thread from the file of tokens, with the first count. Who reads the file
// hands it in: nothing here knows where it is.

import { asError, CtxfoldError } from '../errors.js';
import { createBytePairCounter } from './byte-pair-counter.js';
import type { CountPiece } from './count-tokens.js';
import { decodeTokenFile } from './token-file.js';

/**
 * Returns what resolves to the one counter of a thread, and reads the file when it is called first. A
 * failure is not remembered: a `CtxfoldError` `TOKEN_COUNT_FAILED` that says what to do.
 */
export function pieceCounterLoader(read: () => Promise<Uint8Array>): () => Promise<CountPiece> {
  let loading: Promise<CountPiece> | undefined;
  const load = async (): Promise<CountPiece> => {
    try {
      return createBytePairCounter(decodeTokenFile(await read()));
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
  return () => {
    loading ??= load();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
}
