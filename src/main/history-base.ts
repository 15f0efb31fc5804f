// The state of a history that somebody found an edit on, checked where it comes back. Knows no entry.

import type { DensityBase } from '../shared/density.js';
import { CtxfoldError } from '../shared/errors.js';
import { asObject, assertNumber } from '../shared/misuse.js';

/** @throws TypeError for what is no state of a history. */
export function assertBase(base: DensityBase): void {
  const { revision, length } = asObject(base, 'base', 'the state of a history');
  assertNumber('revision', revision);
  assertNumber('length', length);
}

/** @throws TypeError for what is no state; CtxfoldError `DENSITY_STALE` for one of another revision. */
export function assertCurrentBase(base: DensityBase | undefined, revision: number): void {
  if (base === undefined) return;
  assertBase(base);
  if (base.revision === revision) return;
  throw new CtxfoldError(
    `The density result was computed from revision ${base.revision}, the history is at ${revision}; compute it again.`,
    'DENSITY_STALE',
  );
}
