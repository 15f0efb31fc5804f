// The options of a call into a session about one request, and their validation.

import { withoutUndefined } from '../../shared/json.js';
import {
  asObject,
  assertBoolean,
  assertSignal,
  assertString,
  assertTokens,
  readOptions,
} from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import { EDIT_CHECKS } from './edit-options.js';
import type { ReasoningPolicy } from './reasoning-policy.js';

/** Options of a call that a signal can abort; it then rejects with the signal's reason. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What is known of the request that is about to be made. */
export interface RequestOptions extends AbortOptions {
  /** Cache lifetime that the request asks for, in milliseconds. @default the model's */
  readonly cacheTtlMs?: number | undefined;
  /**
   * The reasoning policy that suits the model of the request; ignored if the session has its own `reasoning` option. Reasoning that
   * another policy has left behind an edit is removed if this policy would have removed it. @default 'keep'
   */
  readonly reasoning?: ReasoningPolicy | undefined;
  /**
   * Whether the provider has refused this request because its reasoning was made from other messages: all reasoning that may be
   * left out is removed. @default false
   */
  readonly removesReasoning?: boolean | undefined;
  /**
   * How many tokens less than it seems the model takes, once the provider has refused this request for its length. Unlike pending
   * ones, they are not in the usage that is reported for it. @default 0
   */
  readonly excessTokens?: number | undefined;
}

const CHECKS: Checks<RequestOptions> = {
  signal: assertSignal,
  cacheTtlMs: EDIT_CHECKS.cacheTtlMs,
  reasoning: EDIT_CHECKS.reasoning,
  removesReasoning: assertBoolean,
  excessTokens: assertTokens,
};

/** The request that a preflight prepares. */
export interface PreflightRequest extends RequestOptions {
  /** Names the turn in logs and telemetry. */
  readonly promptId: string;
  /** Tokens of the request besides history and overhead, in the model's own tokens. */
  readonly pendingTokens: number;
}

/**
 * Validates the arguments of a call into a session.
 *
 * @throws TypeError or RangeError for an invalid name, options or token number.
 */
export function readCall(
  promptId: string,
  options: RequestOptions,
  pendingTokens: number = 0,
): PreflightRequest {
  assertString('promptId', promptId);
  assertTokens('pendingTokens', pendingTokens);
  return { promptId, pendingTokens, ...readAbortOptions(options) };
}

/**
 * Reads the options' properties, including getters: `signal` of an `AbortController` is one.
 *
 * @throws TypeError if the options cannot be read, or one is of a wrong type; RangeError for an unknown option or value.
 */
export function readAbortOptions(options: RequestOptions): RequestOptions {
  let read: RequestOptions;
  try {
    const given = asObject(options, 'the options', 'an object');
    const inherited = Object.keys(CHECKS).map((name) => [name, given[name]]);
    read = { ...given, ...(Object.fromEntries(inherited) as RequestOptions) };
  } catch (cause) {
    throw new TypeError('Expected options with a signal that can be read.', { cause });
  }
  return withoutUndefined(readOptions('options of a call', read, CHECKS));
}
