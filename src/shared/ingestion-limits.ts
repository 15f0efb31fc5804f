// How large an entry may be.

import { readOptions } from './misuse.js';

/** Limits on the depth and size of an entry. */
export interface IngestionLimits {
  /** Levels of nesting inside a block. @default 256, far below what structured clone and the pool survive */
  readonly maxDepth: number;
  /**
   * UTF-16 units of all strings and keys of an entry, plus the tokens that its opaque blocks and the media in its results
   * declare. @default 8,388,608
   */
  readonly maxCharacters: number;
  /** Values in an entry, counting every object, array, element and primitive. @default 1,000,000 */
  readonly maxValues: number;
}

export const DEFAULT_INGESTION_LIMITS: IngestionLimits = {
  maxDepth: 256,
  maxCharacters: 8 * 1024 * 1024,
  maxValues: 1_000_000,
};

/** Adds default limits. @throws RangeError for a limit that is not a number of at least 0. */
export function completeLimits(limits: Partial<IngestionLimits> = {}): IngestionLimits {
  const complete = { ...DEFAULT_INGESTION_LIMITS, ...readOptions('limits', limits) };
  for (const [name, limit] of Object.entries(complete)) {
    if (typeof limit === 'number' && limit >= 0) continue;
    throw new RangeError(`Expected ${name} to be a number of at least 0, got ${typeof limit}.`);
  }
  return complete;
}
