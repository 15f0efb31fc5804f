// Puts on record what the edits of a session take away, and tells when that begins to fail. Leaves it to
// the steps what becomes of an edit that cannot be recorded.

import type { Logger } from '../logger.js';
import { recordRemovalsTo } from '../transcript/removal-recorder.js';
import { isWriteFailure } from '../transcript/transcript-errors.js';
import type { TranscriptWriter } from '../transcript/transcript-writer.js';
import type { RecordChanges } from './session-parts.js';

export interface EditRecordingOptions {
  readonly sessionId: string;
  readonly transcript?: Pick<TranscriptWriter, 'append'> | undefined;
  readonly logger: Logger;
}

/**
 * Returns what records the changes of a session, or `undefined` when it keeps no transcript.
 *
 * @param tellFailure hears the error when writing fails, and not again before it has worked
 */
export function recordEdits(
  { sessionId, transcript, logger }: EditRecordingOptions,
  tellFailure: (error: Error) => void,
): RecordChanges | undefined {
  if (transcript === undefined) return undefined;
  const recorder = recordRemovalsTo(transcript);
  let isFailing = false;
  return async (kind, changes, signal) => {
    try {
      await recorder.record(changes, { sessionId, kind, signal });
      isFailing = false;
    } catch (error) {
      if (isWriteFailure(error) && !isFailing) {
        isFailing = true;
        logger.warn('the transcript cannot be written: edits are left out', { error });
        tellFailure(error);
      }
      throw error;
    }
  };
}
