// What every call into a session is given, and its check.

import { assertSignal, assertString, readOptions } from '../../shared/misuse.js';
import type { AbortOptions } from './session-parts.js';
import { assertTokens } from './token-budget.js';

/**
 * Checks what a call is given.
 *
 * @returns its options, as they were read
 * @throws TypeError or RangeError for what is no name, are no options, or is no number of tokens.
 */
export function readCall(
  promptId: string,
  options: AbortOptions,
  pendingTokens: number = 0,
): AbortOptions {
  assertString('promptId', promptId);
  assertTokens('pendingTokens', pendingTokens);
  return readAbortOptions(options);
}

/** Reads the signal. @throws TypeError for what is no object that can be read, or has a signal that is none. */
export function readAbortOptions(options: AbortOptions): AbortOptions {
  const { signal } = readOptions('the options', options);
  assertSignal(signal);
  return signal === undefined ? {} : { signal };
}
