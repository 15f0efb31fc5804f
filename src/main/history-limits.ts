// What an entry of a history may be, with the defaults filled in.

import { DEFAULT_INGESTION_LIMITS } from '../shared/ingestion.js';
import type { IngestionLimits } from '../shared/ingestion.js';
import { readOptions } from '../shared/misuse.js';

/** @throws RangeError for a limit that is no number of at least 0. */
export function completeLimits(limits: Partial<IngestionLimits> = {}): IngestionLimits {
  const complete = { ...DEFAULT_INGESTION_LIMITS, ...readOptions('limits', limits) };
  for (const [name, limit] of Object.entries(complete)) {
    if (typeof limit === 'number' && limit >= 0) continue;
    throw new RangeError(`Expected ${name} to be a number of at least 0, got ${typeof limit}.`);
  }
  return complete;
}
