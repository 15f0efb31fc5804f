// The port through which the pre-send window puts on record what it is about to take away, and its
// form on a removal log.

import type { EntryChange } from '../entry-change.js';
import type { RemovalDraft } from './removal-record.js';
import type { RemovalLog } from './removal-log.js';

/** Whose history changes, and through what. */
export interface RecordContext {
  readonly sessionId: string;
  /** `pruned` by a density pass, entry by entry, or `compressed` together with others. */
  readonly kind: 'pruned' | 'compressed';
  /** Takes the changes off the queue again, unless they are being written. */
  readonly signal?: AbortSignal | undefined;
}

/** Keeps what a pass takes away. */
export interface RemovalRecorder {
  /**
   * Resolves when the changes are on record for good; only then may they be applied.
   *
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED` or `CLOSED`; the signal's reason. The
   * changes must not be applied then.
   */
  record(changes: readonly EntryChange[], context: RecordContext): Promise<void>;
}

/** Records to a removal log. */
export function recordRemovalsTo(writer: Pick<RemovalLog, 'append'>): RemovalRecorder {
  return {
    record: (changes, { sessionId, kind, signal }) => {
      const drafts = changes.map(({ index, before, after }): RemovalDraft => ({
        sessionId,
        kind: kind === 'compressed' ? kind : after === null ? 'removed' : 'replaced',
        index,
        entry: before,
        ...(after !== null && { replacement: after }),
      }));
      return writer.append(drafts, { signal });
    },
  };
}
