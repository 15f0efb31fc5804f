// Puts on record what the edits of a session take away, and tells when that begins to fail. Leaves it to
// the steps what becomes of an edit that cannot be recorded.

import type { Logger } from '../host/logger.js';
import { recordRemovalsTo } from '../removal-log/removal-recorder.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { RemovalLog } from '../removal-log/removal-log.js';
import type { RecordChanges } from './session-parts.js';

export interface EditRecordingOptions {
  readonly sessionId: string;
  readonly removalLog?: Pick<RemovalLog, 'append'> | undefined;
  readonly logger: Logger;
}

/**
 * Returns what records the changes of a session, or `undefined` when it keeps no removal log.
 *
 * @param tellFailure hears the error when writing fails, and not again before it has worked
 */
export function recordEdits(
  { sessionId, removalLog, logger }: EditRecordingOptions,
  tellFailure: (error: Error) => void,
): RecordChanges | undefined {
  if (removalLog === undefined) return undefined;
  const recorder = recordRemovalsTo(removalLog);
  let isFailing = false;
  return async (kind, changes, signal) => {
    try {
      await recorder.record(changes, { sessionId, kind, signal });
      isFailing = false;
    } catch (error) {
      if (isWriteFailure(error) && !isFailing) {
        isFailing = true;
        logger.warn('the removal log cannot be written: edits are left out', { error });
        tellFailure(error);
      }
      throw error;
    }
  };
}
