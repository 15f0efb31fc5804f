// Decides which session's results an MCP server returns: those of the session it was started for, or of the only session in the
// removal logs. Never guesses between several sessions, and never reveals their ids.

import { readRemovals } from '../../removal-log.js';
import type { SessionScope } from '../../removal-log.js';

/** Removal logs, and the session in them whose results may be returned. */
export interface RecallSource {
  readonly paths: readonly string[];
  /** @default the only session in the logs; nothing is returned while they hold several */
  readonly scope?: SessionScope | undefined;
}

/** The scope whose results may be returned; `none`: the logs are empty; `several`: they hold several sessions and no scope was given. */
export type RecallChoice = SessionScope | 'none' | 'several';

/**
 * Returns the given scope, or scans the removal logs until a second session shows up. A missing file counts as empty.
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

/** Whether an error was caused by a missing file: a session creates its removal log only with its first edit. */
export function isMissingFile(thrown: unknown): boolean {
  const { cause } = Object(thrown) as { readonly cause?: unknown };
  return (Object(cause) as { readonly code?: unknown }).code === 'ENOENT';
}
