// Restores from several transcripts, when nobody knows which of them holds a call.

import { CompressionStrategyError } from '../../shared/errors.js';
import type { RestoredResponse, RestoreOptions } from './restore.js';
import type { TranscriptWriter } from './transcript-writer.js';

/**
 * Asks every transcript for the original response to a call; of several that have one, that which was
 * recorded last is given.
 *
 * @throws CompressionStrategyError `NOT_IN_TRANSCRIPT` when none of them has it, or there are none; what
 * reading failed with when one of them, which may have it, could not be read.
 */
export async function restoreLatest(
  transcripts: readonly Pick<TranscriptWriter, 'restore'>[],
  callId: string,
  options: RestoreOptions,
): Promise<RestoredResponse> {
  if (transcripts.length === 0) {
    throw new CompressionStrategyError(
      `No open session keeps a transcript to restore call ${JSON.stringify(callId)} from; create sessions with transcriptPath.`,
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

function isAbsence(thrown: unknown): boolean {
  return thrown instanceof CompressionStrategyError && thrown.code === 'NOT_IN_TRANSCRIPT';
}
