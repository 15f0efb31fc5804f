// The o200k encoding of a worker: loaded with the first count, because it takes 150 ms and 17 MB and
// a density pass needs neither.

import { createBytePairCounter } from '../shared/tokens/byte-pair-counter.js';
import type { CountPiece } from '../shared/tokens/count-tokens.js';

let loading: Promise<CountPiece> | undefined;

/** The one counter of this thread. A failure to load is not remembered. */
export function loadPieceCounter(): Promise<CountPiece> {
  loading ??= import('gpt-tokenizer/bpeRanks/o200k_base').then((tokens) =>
    createBytePairCounter(tokens.default),
  );
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}
