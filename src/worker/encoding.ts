// The o200k encoding of a worker: loaded with the first count, because it takes 130 ms and 36 MB and
// a density pass needs neither.

import { createPieceCounter } from '../shared/tokens/piece-counter.js';
import type { PieceCounter } from '../shared/tokens/piece-counter.js';

let loading: Promise<PieceCounter> | undefined;

/** The one counter of this thread. A failure to load is not remembered. */
export function loadPieceCounter(): Promise<PieceCounter> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(createPieceCounter);
  loading.catch(() => {
    loading = undefined;
  });
  return loading;
}
