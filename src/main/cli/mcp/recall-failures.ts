// Tells apart why a removal log gave no original.

import { CtxfoldError } from '../../../index.js';

/** Whether a removal log was read and does not hold it. */
export function isAbsent(thrown: unknown): boolean {
  return thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
}

/** Whether there is no such file, as before the first edit of a session. */
export function isMissingFile(thrown: unknown): boolean {
  const { cause } = Object(thrown) as { readonly cause?: unknown };
  return (Object(cause) as { readonly code?: unknown }).code === 'ENOENT';
}
