// Makes the counter of a thread from the file of tokens, with the first count. Who has the file
// hands it in: nothing here knows where it is.

import { asError, CtxfoldError } from '../errors.js';
import { createBytePairCounter } from './byte-pair-counter.js';
import type { CountPiece } from './count-tokens.js';
import { decodeTokenFile } from './token-file.js';

/** Loads the one counter of a thread; between parts of that, it waits for `pause`. */
export type LoadPieceCounter = (pause?: () => Promise<void>) => Promise<CountPiece>;

/**
 * Returns what resolves to the one counter of a thread, and reads the file when it is called first. A
 * failure is not remembered: a `CtxfoldError` `TOKEN_COUNT_FAILED` that says what to do.
 */
export function pieceCounterLoader(read: () => Promise<Uint8Array>): LoadPieceCounter {
  let loading: Promise<CountPiece> | undefined;
  const load = async (pause?: () => Promise<void>): Promise<CountPiece> => {
    try {
      const decoding = decodeTokenFile(await read());
      for (let slice = decoding.next(); ; slice = decoding.next()) {
        if (slice.done === true) return createBytePairCounter(slice.value);
        await pause?.();
      }
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
