// What every call into a session is given, and its check.

import { asObject, assertSignal, assertString } from '../../shared/misuse.js';
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

/**
 * Reads the signal, also of an `AbortController`, which has it as a getter.
 *
 * @throws TypeError for what is no object that can be read, or has a signal that is none.
 */
export function readAbortOptions(options: AbortOptions): AbortOptions {
  let signal: unknown;
  try {
    ({ signal } = asObject(options, 'the options', 'an object'));
  } catch (cause) {
    throw new TypeError('Expected options with a signal that can be read.', { cause });
  }
  assertSignal(signal);
  return signal === undefined ? {} : { signal };
}
