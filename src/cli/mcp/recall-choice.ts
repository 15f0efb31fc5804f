// Decides which session's results an MCP server returns: those of the session it was started for, or of the only session in the
// removal logs. Never guesses between several sessions, and never reveals their ids.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRemovals } from '../../removal-log.js';
import type { SessionScope } from '../../removal-log.js';

/** Removal logs, and the session in them whose results may be returned. */
export interface RecallSource {
  /** Files, and folders of removal logs. */
  readonly paths: readonly string[];
  /** @default the only session in the logs; nothing is returned while they hold several */
  readonly scope?: SessionScope | undefined;
}

/** What may be returned; `several`: the logs hold several sessions and no scope was given. */
export type RecallChoice =
  { readonly paths: readonly string[]; readonly scope: SessionScope } | 'several';

/**
 * Returns the files that there are, with the given scope, or scans them until a second session shows up.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` when a file cannot be read: it may hold another session.
 */
export async function chooseRecall(source: RecallSource): Promise<RecallChoice> {
  const paths = (await Promise.all(source.paths.map(logsAt))).flat();
  if (source.scope !== undefined) return { paths, scope: source.scope };
  let only: string | undefined;
  for (const path of paths) {
    for await (const { record } of readRemovals(path)) {
      if (only !== undefined && only !== record.sessionId) return 'several';
      only = record.sessionId;
    }
  }
  // Without a record there is nothing to return, whoever asks.
  return only === undefined
    ? { paths: [], scope: { acrossSessions: true } }
    : { paths, scope: { sessionId: only } };
}

/**
 * Returns the removal logs in a folder, as `removalLogDirectory` names them; nothing if there is nothing, because a session creates its
 * removal log only with its first edit; a path of anything else as it is.
 */
async function logsAt(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: unknown) =>
    (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined,
  );
  if (names === undefined) return [path];
  return names
    .filter((name) => name.endsWith('.removals.jsonl'))
    .sort()
    .map((name) => join(path, name));
}
