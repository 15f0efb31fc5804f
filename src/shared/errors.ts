// The error hierarchy of the package, its closed set of codes, and errors as plain data for passing them between threads
// (structured clone would drop class, name and code).

import { types } from 'node:util';
import { withoutUndefined } from './json.js';
import { shownText } from './shown-text.js';

/** All codes of errors of this package. */
export const ERROR_CODES = [
  'UNKNOWN_STRATEGY',
  'DENSITY_CONFLICT',
  'DENSITY_OUT_OF_BOUNDS',
  'DENSITY_DUPLICATE_INDEX',
  'DENSITY_STALE',
  'COMPRESSION_IN_PROGRESS',
  'COMPRESSION_FAILED',
  'PROMPT_NOT_FOUND',
  'PROMPT_REFUSED',
  'SUMMARY_REJECTED',
  'SUMMARIZER_FAILED',
  'SUMMARIZER_TIMEOUT',
  'SUMMARIZER_UNREACHABLE',
  'SUMMARIZER_MISSING',
  'SUMMARIZER_WINDOW_TOO_SMALL',
  'PROVIDER_COMPACTION_FAILED',
  'TODOS_FAILED',
  'TURN_TIMEOUT',
  'CONTEXT_WINDOW_EXCEEDED',
  'TOKEN_COUNT_FAILED',
  'WORKER_FAILED',
  'WORKER_DIED',
  'WORKER_OUT_OF_MEMORY',
  'WORKER_TIMEOUT',
  'WORKER_INVALID_RESULT',
  'POOL_QUEUE_FULL',
  'POOL_UNAVAILABLE',
  'RESIDENT_OUT_OF_STEP',
  'CLOSED',
  'UNKNOWN_FORMAT',
  'UNREADABLE_TRANSCRIPT',
  'REMOVAL_LOG_WRITE_FAILED',
  'REMOVAL_LOG_READ_FAILED',
  'NOT_IN_REMOVAL_LOG',
  'SESSION_AMBIGUOUS',
  'PROFILE_UNREADABLE',
  'PROFILE_WRITE_FAILED',
  'CALLBACK_FAILED',
  'STATE_BROKEN',
  'STATE_TOO_NEW',
  'STORE_FAILED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * The base class of all errors of ctxfold, except that misuse of an argument throws a `TypeError` or `RangeError`. No
 * `message` contains session content, only names, numbers, places and given paths. A `cause` may: whatever a provider, a
 * tokenizer or a host's function threw can quote anything, so log causes only where content is allowed.
 */
export class CtxfoldError extends Error {
  readonly code: ErrorCode;

  constructor(message: string, code: ErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An unknown strategy name; the message lists the known ones. */
export class UnknownStrategyError extends CtxfoldError {
  readonly strategyName: string;

  constructor(strategyName: string, known: readonly string[]) {
    super(
      `Unknown compression strategy ${typeof strategyName === 'string' ? shownText(strategyName) : typeof strategyName}. Use one of: ${known.join(', ')}.`,
      'UNKNOWN_STRATEGY',
    );
    this.strategyName = strategyName;
  }
}

/** A compression that failed. The history is unchanged. */
export class CompressionExecutionError extends CtxfoldError {
  readonly strategyName: string;

  constructor(
    strategyName: string,
    message: string,
    options?: ErrorOptions & { readonly code?: ErrorCode },
  ) {
    super(`${strategyName}: ${message}`, options?.code ?? 'COMPRESSION_FAILED', options);
    this.strategyName = strategyName;
  }
}

/** Why a summary by a model was rejected. */
export type SummaryRejectionReason =
  /** It is blank. */
  | 'empty'
  /** It is not smaller than what it would replace, or exceeds its limit. */
  | 'inflated'
  /** The model ran out of output tokens. */
  | 'cut-off'
  /** The model asked for a tool although it was given none. */
  | 'tool-call'
  /** The provider withheld content, or the response ended with an error. */
  | 'withheld';

/** A summary that is unfit to replace what it summarizes. The history is unchanged. */
export class SummaryRejectedError extends CompressionExecutionError {
  readonly reason: SummaryRejectionReason;

  constructor(strategyName: string, reason: SummaryRejectionReason, message: string) {
    super(strategyName, message, { code: 'SUMMARY_REJECTED' });
    this.reason = reason;
  }
}

/** A failed request to a model for a summary. */
export class SummarizerError extends CtxfoldError {
  /** Status of the HTTP response, if there was one. */
  readonly statusCode: number | undefined;

  constructor(
    message: string,
    code: 'SUMMARIZER_UNREACHABLE' | 'SUMMARIZER_TIMEOUT' | 'SUMMARIZER_FAILED',
    options?: ErrorOptions & { readonly statusCode?: number | undefined },
  ) {
    super(message, code, options);
    this.statusCode = options?.statusCode;
  }
}

/** A prompt that was not found or must not be read. */
export class PromptError extends CtxfoldError {
  readonly promptName: string;

  constructor(
    promptName: string,
    message: string,
    code: 'PROMPT_REFUSED' | 'PROMPT_NOT_FOUND',
    options?: ErrorOptions,
  ) {
    super(message, code, options);
    this.promptName = promptName;
  }
}

/** The request exceeds the hard limit of the context window even without everything that may be removed. */
export class ContextWindowExceededError extends CtxfoldError {
  /** Tokens of the next request. */
  readonly projectedTokens: number;
  /** Tokens that the model accepts. */
  readonly contextLimit: number;

  constructor(message: string, projectedTokens: number, contextLimit: number) {
    super(message, 'CONTEXT_WINDOW_EXCEEDED');
    this.projectedTokens = projectedTokens;
    this.contextLimit = contextLimit;
  }
}

/** A failure of the thread pool or of a task on it. */
export class WorkerPoolError extends CtxfoldError {}

/** Returns a thrown value as an error with a message; never throws. */
export function asError(thrown: unknown): Error {
  if (!isError(thrown)) return new Error(describe(thrown));
  if (textOf(thrown, 'message') !== undefined) return thrown;
  return new Error('an error without a message was thrown', { cause: thrown });
}

/**
 * Whether a value is an error, also one of another realm, as Node's are in a test runner's VM context; `false` for a proxy that
 * throws or is revoked.
 */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error || types.isNativeError(thrown) || thrown instanceof DOMException;
  } catch {
    return false;
  }
}

/** Returns a field of an error if it is a text: hosts assign bodies of responses to errors, with any `message`. */
export function textOf(
  error: Error,
  field: 'name' | 'message' | 'stack' | 'code',
): string | undefined {
  try {
    const value: unknown = (error as { readonly code?: unknown } & Error)[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the system's code of an error, such as `ENOSPC`. */
export function systemCode(thrown: unknown): string | undefined {
  return isError(thrown) ? textOf(thrown, 'code') : undefined;
}

/** An error as plain data. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: WireError;
}

const MAX_CAUSES = 8;

/** An error and its causes, outermost first. */
export function* causesOf(thrown: unknown): Generator<Error, void, undefined> {
  let link = thrown;
  for (let depth = 0; depth < MAX_CAUSES && isError(link); depth += 1) {
    yield link;
    link = link.cause;
  }
}

/** Converts any thrown value to plain data; never throws. */
export function toWireError(thrown: unknown, depth: number = 0): WireError {
  if (!isError(thrown)) return { name: 'Error', message: describe(thrown) };
  const isCaused = thrown.cause !== undefined && depth < MAX_CAUSES;
  return {
    name: textOf(thrown, 'name') ?? 'Error',
    message: textOf(thrown, 'message') ?? '',
    ...withoutUndefined({ code: textOf(thrown, 'code'), stack: textOf(thrown, 'stack') }),
    ...(isCaused && { cause: toWireError(thrown.cause, depth + 1) }),
  };
}

/** Whether a value and all its causes are errors as plain data. */
export function isWireError(value: unknown): value is WireError {
  let link: unknown = value;
  for (let depth = 0; depth <= MAX_CAUSES; depth += 1) {
    if (typeof link !== 'object' || link === null) return false;
    const { name, message, code, stack, cause } = link as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof message !== 'string') return false;
    if (![code, stack].every((text) => text === undefined || typeof text === 'string'))
      return false;
    if (cause === undefined) return true;
    link = cause;
  }
  return false;
}

/** Restores an error from plain data: a `CtxfoldError` if its code is one of ours, else the built-in of that name. */
export function reviveError(wire: WireError): Error {
  const options = wire.cause === undefined ? undefined : { cause: reviveError(wire.cause) };
  const error = isErrorCode(wire.code)
    ? new CtxfoldError(wire.message, wire.code, options)
    : new (BUILT_INS.get(wire.name) ?? Error)(wire.message, options);
  error.name = wire.name;
  if (wire.stack !== undefined) error.stack = wire.stack;
  return error;
}

const BUILT_INS = new Map<string, new (message: string, options?: ErrorOptions) => Error>(
  Object.entries({ TypeError, RangeError, SyntaxError }),
);

function isErrorCode(code: string | undefined): code is ErrorCode {
  return ERROR_CODES.some((known) => known === code);
}

function describe(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : `a non-error was thrown: ${String(thrown)}`;
  } catch {
    return 'a non-error was thrown that cannot be shown as text';
  }
}
