// What a density pass found, as flat numbers: a few integers per edit whatever the payloads weigh,
// safe to send across threads, and independent of how the history is stored.

import type { DensityResultMetadata } from '../../density.js';

/** The block edits of one pass. Entries and blocks are indices into the raw history and `blocks`. */
export interface DensityPlan {
  /** Blocks to drop: entry, block; ascending by both. */
  readonly drops: Int32Array;
  /** Responses whose result becomes the pointer: entry, block; ascending by both. */
  readonly pointers: Int32Array;
  /** Responses whose result becomes an excerpt of itself: entry, block; ascending by both, apart from `pointers`. */
  readonly excerpts: Int32Array;
  /**
   * Ranges to cut out of text blocks: entry, block, start, end (UTF-16 offsets, end exclusive);
   * ascending by entry, block and start, never overlapping.
   */
  readonly cuts: Int32Array;
  readonly metadata: DensityResultMetadata;
}

/** The plan that edits nothing. */
export const EMPTY_PLAN: DensityPlan = {
  drops: new Int32Array(),
  pointers: new Int32Array(),
  excerpts: new Int32Array(),
  cuts: new Int32Array(),
  metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
};
