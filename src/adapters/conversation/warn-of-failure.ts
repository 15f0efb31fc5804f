// Tells a host that compaction has failed, and what is sent instead.

import { SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import { asError } from '../../shared/errors.js';

let hasWarned = false;

/** Logs it. Without a logger, emits one process warning, which has no message content. */
export function warnOfFailure(logger: Logger, thrown: unknown, message: string): void {
  const error = asError(thrown);
  logger.warn(message, { error });
  if (logger !== SILENT_LOGGER || hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `Compaction failed (${error.name}), and the messages were sent without it. Give the adapter a logger to see why, or onError: 'throw'.`,
    { type: 'CtxfoldWarning', code: 'CTXFOLD_SENT_UNCOMPACTED' },
  );
}
