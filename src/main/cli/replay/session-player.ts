// Plays the entries of a transcript through a session: a preflight before each answer of the
// model, which it names, as the agent would have had it. Reads no file, notes nothing and prints nothing.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IContent, Session } from '../../../index.js';
import type { Transcript } from '../../../transcripts.js';
import type { SessionRecorder } from './session-recorder.js';

/** What a transcript is played with. */
export interface PlayOptions {
  readonly recorder: SessionRecorder;
  /** The clock of the session: it is set to the recorded times. */
  readonly clock: PlayClock;
  readonly signal?: AbortSignal | undefined;
  /** Told after each entry how many were played. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
}

/** What time it is in a session that is played. */
export class PlayClock {
  #timeMs = 0;

  /** Milliseconds that only grow, from wherever. */
  readonly now = (): number => this.#timeMs;

  /** Goes on to a recorded time; where there is none, or an earlier one, no time has passed. */
  set(timeMs: number | undefined): void {
    if (timeMs !== undefined && timeMs > this.#timeMs) this.#timeMs = timeMs;
  }
}

/**
 * Plays all entries, or those up to where the session stops fitting or a compression fails.
 *
 * @throws the signal's reason; what ctxfold throws for other reasons.
 */
export async function playEntries(
  session: Session,
  { entries, contextStarts = [] }: Pick<Transcript, 'entries' | 'contextStarts'>,
  { recorder, clock, signal, onProgress }: PlayOptions,
): Promise<void> {
  const openWindow = async (): Promise<void> => {
    const promptId = `replay-${recorder.windows.length + 1}`;
    await recorder.window(() =>
      session.ensureCompressionBeforeSend(promptId, 0, 'replay', { signal }),
    );
    // An agent would now wait for its model.
    await nextTurn();
  };
  const starts = new Set(contextStarts);
  for (const [at, entry] of entries.entries()) {
    // The agent compacted its history: its context is what comes from here on, with ctxfold and without.
    if (starts.has(at)) {
      session.history.clear();
      recorder.noteContext();
    }
    if (entry.speaker === 'ai') {
      clock.set(entry.metadata?.timestamp);
      const model = modelOfEntry(entry);
      if (model !== undefined) session.history.nameModel(model);
      await openWindow();
      if (recorder.hasStopped) return;
    }
    session.history.add(entry);
    recorder.noteEntry(entry);
    onProgress?.(at + 1);
  }
  if (entries.length > 0) await openWindow();
}

/** The model that an entry says it is from. */
export function modelOfEntry({ metadata }: IContent): string | undefined {
  const model = metadata?.['model'];
  // What an agent says in a model's place, as of an error, is `<synthetic>`.
  return typeof model === 'string' && !model.startsWith('<') ? model : undefined;
}
