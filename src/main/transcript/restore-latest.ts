// Restores from the transcripts of open sessions, when nobody knows which of them holds a call. Which sessions are
// asked is decided by whoever asks, never by the call's id.

import { resolve } from 'node:path';
import { CompressionStrategyError } from '../../shared/errors.js';
import type { RestoredResponse } from './restore.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import type { TranscriptWriter } from './transcript-writer.js';

/** Which open sessions a compactor gives originals back from. */
export type RestoreOptions = SessionScope & {
  /**
   * Looks at sessions only whose transcripts are in this directory. Needed where two open sessions have
   * the same id. @default any
   */
  readonly transcriptDirectory?: string | undefined;
};

/** A session that is open. */
export interface OpenSession {
  readonly sessionId: string;
  /** Absent when it keeps none. */
  readonly transcript?: Pick<TranscriptWriter, 'restore'> | undefined;
  /** Where its transcript is, absolute; absent when it keeps none. */
  readonly directory?: string | undefined;
}

/**
 * Asks the transcripts of the sessions meant for the original response to a call; of several that have one, that
 * which was recorded last is given.
 *
 * @throws TypeError when no session is named; CompressionStrategyError `NOT_IN_TRANSCRIPT` when none of them has it,
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
    throw new CompressionStrategyError(
      `${meant.length} open sessions have the id that was named, and it cannot be told which is meant; ` +
        'name its transcriptDirectory too, or restore from the session itself.',
      'SESSION_AMBIGUOUS',
    );
  }
  const transcripts = meant.flatMap(({ transcript }) => transcript ?? []);
  if (transcripts.length === 0) {
    const which = options.acrossSessions === true ? '' : ' of this id';
    throw new CompressionStrategyError(
      `No open session${which} keeps a transcript to restore call ${JSON.stringify(callId)} from; ` +
        'create sessions with transcriptDirectory or transcriptPath.',
      'NOT_IN_TRANSCRIPT',
    );
  }
  const outcomes = await Promise.allSettled(
    transcripts.map((transcript) => transcript.restore(callId, options)),
  );
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
  const { transcriptDirectory } = options;
  const directory = transcriptDirectory === undefined ? undefined : resolve(transcriptDirectory);
  return open.filter(
    (session) =>
      isInScope(options, session.sessionId) &&
      (directory === undefined || session.directory === directory),
  );
}

function isAbsence(thrown: unknown): boolean {
  return thrown instanceof CompressionStrategyError && thrown.code === 'NOT_IN_TRANSCRIPT';
}
