// Helpers for tests of passes: apply a result to a history, and freeze inputs.

import type { IContent } from '../../src/shared/content.js';
import { applyDensityResult } from '../../src/shared/density.js';
import type { DensityResult } from '../../src/shared/density.js';

/** A copy of a history with a result applied. */
export function applied(history: readonly IContent[], result: DensityResult): IContent[] {
  const compacted = [...history];
  applyDensityResult(compacted, result);
  return compacted;
}

/** Freezes a value deeply and returns it, except typed arrays, which cannot be frozen. */
export function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeep);
  }
  return value;
}

/** The documented part of a result, for comparison with an implementation that reports no rules. */
export function documented({ removals, replacements, metadata }: DensityResult): DensityResult {
  return { removals, replacements, metadata };
}
