// The o200k encoding of a worker: loaded with the first count, because a density pass needs none. The
// file is the build's, 8 ms to load and 4 MB to keep.

import { readFile } from 'node:fs/promises';
import type { CountPiece } from '../shared/tokens/count-tokens.js';
import { pieceCounterLoader } from '../shared/tokens/piece-counter-loader.js';

/** The one counter of this thread. A failure to load is not remembered. */
export const loadPieceCounter: () => Promise<CountPiece> = pieceCounterLoader(() =>
  readFile(new URL(import.meta.resolve('#o200k-tokens'))),
);
