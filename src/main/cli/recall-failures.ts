// Tells apart why a transcript gave no original.

import { CompressionStrategyError } from '../../index.js';

/** Whether a transcript was read and does not hold it. */
export function isAbsent(thrown: unknown): boolean {
  return thrown instanceof CompressionStrategyError && thrown.code === 'NOT_IN_TRANSCRIPT';
}

/** Whether there is no such file, as before the first edit of a session. */
export function isMissingFile(thrown: unknown): boolean {
  const { cause } = Object(thrown) as { readonly cause?: unknown };
  return (Object(cause) as { readonly code?: unknown }).code === 'ENOENT';
}
