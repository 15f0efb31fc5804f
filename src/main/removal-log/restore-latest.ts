// Restores a call's response from the named session, open or in the store, or from the removal logs of all, if the caller does not
// know which session made the call. The scope decides which sessions are searched, never the call id.

import { resolve } from 'node:path';
import { CtxfoldError } from '../../shared/errors.js';
import { assertString } from '../../shared/misuse.js';
import type { Session } from '../session.js';
import type { SessionStates } from '../state/session-states.js';
import { isNotInRemovalLog, keepsNoRemovalLog } from './removal-log-errors.js';
import type { RestoredResponse } from './restore.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import type { SessionLog } from './session-log.js';

/** The open sessions from which a compactor restores. */
export type RestoreOptions = SessionScope & {
  /**
   * Only sessions whose removal logs are in this directory. Needed if two open sessions have the same id.
   * @default any
   */
  readonly removalLogDirectory?: string | undefined;
};

/** An open session. */
export interface OpenSession extends Pick<Session, 'sessionId' | 'restore'> {
  /** Absent if the session has no removal log. */
  readonly removalLog?: Pick<SessionLog, 'restore'> | undefined;
  /** Absolute path of the directory of the removal log; absent if the session has none. */
  readonly directory?: string | undefined;
}

/**
 * Restores the original response to a call from the named session, from the store if it is not open, or from the removal logs of all.
 * If several have one, the one that was recorded last is returned.
 *
 * @throws TypeError if the id is no text, or the scope names no session; CtxfoldError `NOT_IN_REMOVAL_LOG` if no session in scope has the
 * response, or none is in scope; `SESSION_AMBIGUOUS` if several have the given id; the error of reading a log if that
 * log may have the response and no other has it.
 */
export async function restoreLatest(
  open: readonly OpenSession[],
  callId: string,
  options: RestoreOptions,
  states?: Pick<SessionStates, 'findOriginal'>,
): Promise<RestoredResponse> {
  assertString('callId', callId);
  assertSessionScope(options);
  const sessions = sessionsInScope(open, options);
  if (options.acrossSessions !== true && sessions.length > 1) {
    throw new CtxfoldError(
      `${sessions.length} open sessions have the id that was named, and it cannot be told which is meant; ` +
        'name its removalLogDirectory too, or restore from the session itself.',
      'SESSION_AMBIGUOUS',
    );
  }
  const [named] = sessions;
  // Knows originals in the store, too.
  if (options.acrossSessions !== true && named !== undefined) return named.restore(callId);
  const logs = sessions.flatMap(({ removalLog }) => removalLog ?? []);
  if (logs.length === 0) {
    const { sessionId, removalLogDirectory } = options;
    // The store cannot tell where a session has its log.
    const isNamed = sessionId !== undefined && removalLogDirectory === undefined;
    const kept = isNamed ? await states?.findOriginal(callId, sessionId) : undefined;
    if (kept !== undefined) return kept;
    const which = options.acrossSessions === true ? '' : ' of this id';
    const advice =
      ' The log of a session that is not open is read by restore of ctxfold/removal-log.';
    throw keepsNoRemovalLog(`No open session${which} keeps a`, callId, advice);
  }
  const outcomes = await Promise.allSettled(logs.map((log) => log.restore(callId, options)));
  let latest: RestoredResponse | undefined;
  const failures: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') failures.push(outcome.reason);
    else if (outcome.value.recordedAt >= (latest?.recordedAt ?? -Infinity)) latest = outcome.value;
  }
  if (latest !== undefined) return latest;
  throw failures.find((failure) => !isNotInRemovalLog(failure)) ?? failures[0];
}

function sessionsInScope(open: readonly OpenSession[], options: RestoreOptions): OpenSession[] {
  const { removalLogDirectory } = options;
  const directory = removalLogDirectory === undefined ? undefined : resolve(removalLogDirectory);
  return open.filter(
    (session) =>
      isInScope(options, session.sessionId) &&
      (directory === undefined || session.directory === directory),
  );
}
