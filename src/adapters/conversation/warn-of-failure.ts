// Warns a host that compaction failed and what is sent instead, or that its requests hold nothing that can be compacted.

import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import type { IContent } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { PER_SLICE } from '../format/placed.js';
import { isServerHeld, SERVER_HELD } from '../format/provider-compaction.js';
import { describeOther, sdkOfMessage } from '../format/sdk-of-message.js';
import type { Sdk } from '../format/sdk-of-message.js';

let hasWarned = false;

/** The causes of failures since compaction last succeeded, by logger. */
const FAILING = new WeakMap<Logger, Set<string>>();

/**
 * Logs a failure as a warning, and again with the same cause at level `debug` until compaction succeeds. Without a logger, emits one
 * process warning, which has no message content.
 */
export function warnOfFailure(logger: Logger, thrown: unknown, message: string): void {
  const error = asError(thrown);
  const isOwn = error instanceof CtxfoldError;
  const cause = isOwn ? error.code : error.message;
  const failing = FAILING.get(logger) ?? new Set();
  logger[failing.has(cause) ? 'debug' : 'warn'](message, { error });
  FAILING.set(logger, failing.add(cause));
  if (logger !== SILENT_LOGGER || hasWarned) return;
  hasWarned = true;
  // Other errors, and what a function of the host has thrown, may have content in their message.
  const isPlain = isOwn && error.code !== 'CALLBACK_FAILED';
  const why = `${isOwn ? error.code : error.name})${isPlain ? `: ${error.message}` : '.'}`;
  process.emitWarning(
    `Compaction failed, and the messages were sent without it (${why} Give createCompactor a logger to see each failure, or onError: 'throw'.`,
    { type: 'CtxfoldWarning', code: 'CTXFOLD_SENT_UNCOMPACTED' },
  );
}

/** Notes that compaction succeeded: what fails from here on is warned of. */
export function noteSuccess(logger: Logger): void {
  FAILING.delete(logger);
}

/** Messages that were already logged, by logger. */
const WARNED = new WeakMap<Logger, Set<string>>();

/**
 * Warns once per logger what keeps requests from being compacted well, and what to do. Without a logger, emits a process warning.
 * Repeats are recognized by the logger, because an adapter may be created anew for each run.
 */
export function warnOnce(
  logger: Logger,
  message: string,
  code: string = 'CTXFOLD_NOTHING_TO_COMPACT',
): void {
  const warned = WARNED.get(logger) ?? new Set();
  if (warned.has(message)) return;
  WARNED.set(logger, warned.add(message));
  if (logger !== SILENT_LOGGER) logger.warn(message);
  else process.emitWarning(message, { type: 'CtxfoldWarning', code });
}

/** Whether the server holds the items of any of these requests. Then warns that nothing in them can be compacted. */
export function warnIfServerHeld(logger: Logger, ...requests: readonly unknown[]): boolean {
  const isHeld = isServerHeld(...requests);
  if (isHeld) warnOnce(logger, SERVER_HELD);
  return isHeld;
}

/**
 * Runs the reading of messages, and warns if they are messages of another SDK: the reader rejects them, or finds no tool call and no
 * result in them although they have some.
 *
 * @param own the SDK of the reader's format; without one, nothing is checked
 * @throws what the reading throws
 */
export function* warningOfOtherSdk<Read extends { readonly entries: readonly IContent[] }>(
  reading: Generator<void, Read, undefined>,
  messages: readonly unknown[],
  own: Sdk | undefined,
  logger: Logger,
): Generator<void, Read, undefined> {
  let read: Read | undefined;
  try {
    read = yield* reading;
    return read;
  } finally {
    const hasOwn = own === undefined || read?.entries.some(usesTools) === true;
    for (let at = 0; !hasOwn && at < messages.length; at += 1) {
      if (at % PER_SLICE === 0) yield;
      const sdk = sdkOfMessage(messages[at]);
      if (sdk === undefined || sdk === own) continue;
      warnOnce(logger, describeOther(sdk, own));
      break;
    }
  }
}

function usesTools({ blocks }: IContent): boolean {
  return blocks.some(({ type }) => type === 'tool_call' || type === 'tool_response');
}
