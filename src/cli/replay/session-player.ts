// Plays the entries of a transcript through a session as the agent would have: names the model, and runs a preflight before each
// answer of the model.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IContent, Session } from '../../index.js';
import type { Transcript } from '../../transcripts.js';
import type { SessionRecorder } from './session-recorder.js';

/** How to play a transcript. */
export interface PlayOptions {
  readonly recorder: SessionRecorder;
  /** The clock of the session, which is set to the recorded times. */
  readonly clock: PlayClock;
  readonly signal?: AbortSignal | undefined;
  /** Called after each entry. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
}

/** The clock of a played session. */
export class PlayClock {
  #timeMs = 0;

  /** Monotonic time in milliseconds. */
  readonly now = (): number => this.#timeMs;

  /** Advances to a recorded time; ignores a missing or earlier one. */
  set(timeMs: number | undefined): void {
    if (timeMs !== undefined && timeMs > this.#timeMs) this.#timeMs = timeMs;
  }
}

/**
 * Plays the entries until the session no longer fits or a compression fails.
 *
 * @throws the signal's reason; other errors of ctxfold.
 */
export async function playEntries(
  session: Session,
  { entries, contextStarts = [] }: Pick<Transcript, 'entries' | 'contextStarts'>,
  { recorder, clock, signal, onProgress }: PlayOptions,
): Promise<void> {
  const runPreflight = async (): Promise<void> => {
    const promptId = `replay-${recorder.preflights.length + 1}`;
    await recorder.recordPreflight(() =>
      session.ensureCompressionBeforeSend(promptId, 0, 'replay', { signal }),
    );
    // Yield to the event loop, as an agent does while it waits for its model.
    await nextTurn();
  };
  const starts = new Set(contextStarts);
  for (const [at, entry] of entries.entries()) {
    // The agent compacted its own history here, so a new context begins, both with and without ctxfold.
    if (starts.has(at)) {
      session.history.clear();
      recorder.noteContext();
    }
    if (isAnswer(entry)) {
      clock.set(entry.metadata?.timestamp);
      const model = modelOfEntry(entry);
      if (model !== undefined) session.history.nameModel(model);
      await runPreflight();
      if (recorder.hasStopped) return;
    }
    session.history.add(entry);
    recorder.noteEntry(entry);
    onProgress?.(at + 1);
  }
  await runPreflight();
}

/** Whether an entry answers a new request. Entries kept by a compaction answered an earlier one; the agent itself wrote synthetic ones. */
export function isAnswer({ speaker, metadata }: IContent): boolean {
  return speaker === 'ai' && metadata?.isKept !== true && metadata?.synthetic !== true;
}

/** Returns the recorded model of an entry. */
export function modelOfEntry({ metadata }: IContent): string | undefined {
  const model = metadata?.['model'];
  // `<synthetic>` marks messages of the agent itself, such as errors.
  return typeof model === 'string' && !model.startsWith('<') ? model : undefined;
}
