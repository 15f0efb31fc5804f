// Warns a host that compaction failed and what is sent instead, or that its requests hold nothing that can be compacted.

import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import { asError } from '../../shared/errors.js';
import { isServerHeld, SERVER_HELD } from '../format/provider-compaction.js';

let hasWarned = false;

/** Logs a failure as a warning. Without a logger, emits one process warning, which has no message content. */
export function warnOfFailure(logger: Logger, thrown: unknown, message: string): void {
  const error = asError(thrown);
  logger.warn(message, { error });
  if (logger !== SILENT_LOGGER || hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `Compaction failed (${error.name}), and the messages were sent without it. Give createCompactor a logger to see why, or onError: 'throw'.`,
    { type: 'CtxfoldWarning', code: 'CTXFOLD_SENT_UNCOMPACTED' },
  );
}

/** Messages that were already logged, by logger. */
const WARNED = new WeakMap<Logger, Set<string>>();

/**
 * Warns once per logger why nothing of some requests can be compacted, and what to do. Without a logger, emits a process warning.
 * Repeats are recognized by the logger, because an adapter may be created anew for each run.
 */
export function warnOfNothingToCompact(logger: Logger, message: string): void {
  const warned = WARNED.get(logger) ?? new Set();
  if (warned.has(message)) return;
  WARNED.set(logger, warned.add(message));
  if (logger !== SILENT_LOGGER) logger.warn(message);
  else process.emitWarning(message, { type: 'CtxfoldWarning', code: 'CTXFOLD_NOTHING_TO_COMPACT' });
}

/** Whether the server holds the items of any of these requests. Then warns that nothing in them can be compacted. */
export function warnIfServerHeld(logger: Logger, ...requests: readonly unknown[]): boolean {
  const isHeld = isServerHeld(...requests);
  if (isHeld) warnOfNothingToCompact(logger, SERVER_HELD);
  return isHeld;
}
