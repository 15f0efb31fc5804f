// What tests of passes do to histories besides running one: apply what it found, and freeze what it must not touch.

import type { IContent } from '../../src/shared/content.js';
import { applyDensityResult } from '../../src/shared/density.js';
import type { DensityResult } from '../../src/shared/density.js';

/** A copy of a history with a result applied. */
export function applied(history: readonly IContent[], result: DensityResult): IContent[] {
  const compacted = [...history];
  applyDensityResult(compacted, result);
  return compacted;
}

/** Freezes a value and all that it holds; returns it. What memory stands behind cannot be frozen. */
export function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeep);
  }
  return value;
}

/** The documented part of a result: what has no rules to tell of is compared by it. */
export function documented({ removals, replacements, metadata }: DensityResult): DensityResult {
  return { removals, replacements, metadata };
}
