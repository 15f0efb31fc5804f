// What every call into a session is given, and its check.

import { asObject, assertSignal, assertString } from '../../shared/misuse.js';
import type { AbortOptions } from './session-parts.js';
import { assertTokens } from './token-budget.js';

/** @throws TypeError or RangeError for what is no name, are no options, or is no number of tokens. */
export function assertCall(
  promptId: string,
  options: AbortOptions,
  pendingTokens: number = 0,
): void {
  assertString('promptId', promptId);
  assertTokens('pendingTokens', pendingTokens);
  assertAbortOptions(options);
}

/** @throws TypeError for what is no object, or has a signal that is none. */
export function assertAbortOptions(options: AbortOptions): void {
  assertSignal(asObject(options, 'the options', 'an object')['signal']);
}
