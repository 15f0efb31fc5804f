// Makes the counter of a thread from the file of tokens, with the first count. Who has the file
// hands it in: nothing here knows where it is.

import { asError, CtxfoldError } from '../errors.js';
import { runSlices, runSlicesInTurns } from '../slices.js';
import { BytePairCounter } from './byte-pair-counter.js';
import { decodeTokenFile } from './token-file.js';

/** Loads the one counter of a thread; between parts of that, it waits for `pause`. */
export type LoadTextCounter = (pause?: () => Promise<void>) => Promise<BytePairCounter>;

/**
 * Returns what resolves to the one counter of a thread, and reads the file when it is called first. A
 * failure is not remembered: a `CtxfoldError` `TOKEN_COUNT_FAILED` that says what to do.
 */
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
