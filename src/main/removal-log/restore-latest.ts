// Restores from the removal logs of open sessions, when nobody knows which of them holds a call. Which sessions are
// asked is decided by whoever asks, never by the call's id.

import { resolve } from 'node:path';
import { CtxfoldError } from '../../shared/errors.js';
import type { RestoredResponse } from './restore.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import type { RemovalLog } from './removal-log.js';

/** Which open sessions a compactor gives originals back from. */
export type RestoreOptions = SessionScope & {
  /**
   * Looks at sessions only whose removal logs are in this directory. Needed where two open sessions have
   * the same id. @default any
   */
  readonly removalLogDirectory?: string | undefined;
};

/** A session that is open. */
export interface OpenSession {
  readonly sessionId: string;
  /** Absent when it keeps none. */
  readonly removalLog?: Pick<RemovalLog, 'restore'> | undefined;
  /** Where its removal log is, absolute; absent when it keeps none. */
  readonly directory?: string | undefined;
}

/**
 * Asks the removal logs of the sessions meant for the original response to a call; of several that have one, that
 * which was recorded last is given.
 *
 * @throws TypeError when no session is named; CtxfoldError `NOT_IN_REMOVAL_LOG` when none of them has it,
 * or there are none; `SESSION_AMBIGUOUS` when several of them have the id that was named; what reading failed with
 * when one of them, which may have it, could not be read.
 */
export async function restoreLatest(
  open: readonly OpenSession[],
  callId: string,
  options: RestoreOptions,
): Promise<RestoredResponse> {
  assertSessionScope(options);
  const meant = sessionsMeant(open, options);
  if (options.acrossSessions !== true && meant.length > 1) {
    throw new CtxfoldError(
      `${meant.length} open sessions have the id that was named, and it cannot be told which is meant; ` +
        'name its removalLogDirectory too, or restore from the session itself.',
      'SESSION_AMBIGUOUS',
    );
  }
  const logs = meant.flatMap(({ removalLog }) => removalLog ?? []);
  if (logs.length === 0) {
    const which = options.acrossSessions === true ? '' : ' of this id';
    throw new CtxfoldError(
      `No open session${which} keeps a removal log to restore call ${JSON.stringify(callId)} from; ` +
        'create sessions with removalLogDirectory or removalLogPath.',
      'NOT_IN_REMOVAL_LOG',
    );
  }
  const outcomes = await Promise.allSettled(logs.map((log) => log.restore(callId, options)));
  let latest: RestoredResponse | undefined;
  const failures: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') failures.push(outcome.reason);
    else if (outcome.value.recordedAt >= (latest?.recordedAt ?? -Infinity)) latest = outcome.value;
  }
  if (latest !== undefined) return latest;
  throw failures.find((failure) => !isAbsence(failure)) ?? failures[0];
}

function sessionsMeant(open: readonly OpenSession[], options: RestoreOptions): OpenSession[] {
  const { removalLogDirectory } = options;
  const directory = removalLogDirectory === undefined ? undefined : resolve(removalLogDirectory);
  return open.filter(
    (session) =>
      isInScope(options, session.sessionId) &&
      (directory === undefined || session.directory === directory),
  );
}

function isAbsence(thrown: unknown): boolean {
  return thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
}
