// Whose results a server gives back when removal logs may hold those of many sessions: the session's that it was told,
// or the only one's that there is. Never guesses between two, and names none of them.

import { readRemovals } from '../../../removal-log.js';
import type { SessionScope } from '../../../removal-log.js';
import { isMissingFile } from './recall-failures.js';

/** What is read, and whose results are given. */
export interface RecallSource {
  /** Removal logs. */
  readonly paths: readonly string[];
  /** @default the only session that they hold; nothing is given while they hold several */
  readonly scope?: SessionScope | undefined;
}

/** Whose results may be given; or that there are none yet, or those of several sessions and nobody said whose. */
export type RecallChoice = SessionScope | 'none' | 'several';

/**
 * Reads the removal logs as they are now, up to the second session; not at all when the choice was made. A file that
 * does not exist holds nothing.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` when a file cannot be read: it may hold another session.
 */
export async function chooseRecall({ paths, scope }: RecallSource): Promise<RecallChoice> {
  if (scope !== undefined) return scope;
  let only: string | undefined;
  for (const path of paths) {
    try {
      for await (const { record } of readRemovals(path)) {
        if (only !== undefined && only !== record.sessionId) return 'several';
        only = record.sessionId;
      }
    } catch (thrown) {
      if (!isMissingFile(thrown)) throw thrown;
    }
  }
  return only === undefined ? 'none' : { sessionId: only };
}
