// Reads and plays files by the options of the command line, with a progress bar for each stage.

import { resolve } from 'node:path';
import type { Transcript } from '../../../transcripts.js';
import { openProgress } from '../terminal/progress-bar.js';
import type { Progress } from '../terminal/progress-bar.js';
import { createSummarizer } from './model-options.js';
import type { ModelChoice } from './model-options.js';
import type { Recording } from './recording.js';
import type { PlayArguments } from './replay-command.js';
import { replaySession } from './replay-session.js';
import type { ReplayOptions } from './replay-session.js';
import { isUnreadable, readSession } from './session-files.js';
import type { UnreadFile } from './session-files.js';

/** How to play a file, besides the options of the command line. */
export interface PlayFileOptions extends Pick<ReplayOptions, 'session' | 'explains'> {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/**
 * Reads a file, or stdin, and plays it.
 *
 * @throws the signal's reason; errors of reading and of playing.
 */
export async function playFile(
  file: string,
  given: PlayArguments,
  model: ModelChoice | null,
  options: PlayFileOptions,
): Promise<Recording> {
  const { signal, progress } = options;
  const transcript = await readSession(file, { format: given.format, signal, progress });
  return await playTranscript(file, transcript, given, model, options);
}

/** Plays a transcript. @throws the signal's reason; errors of playing. */
export function playTranscript(
  file: string,
  transcript: Transcript,
  given: PlayArguments,
  model: ModelChoice | null,
  { signal, progress, session, explains }: PlayFileOptions,
): Promise<Recording> {
  return replaySession(file, transcript, {
    contextLimit: given.contextLimit,
    offload: given.offload,
    strategy: given.strategy,
    threshold: given.threshold,
    preserveThreshold: given.preserveThreshold,
    topPreserveThreshold: given.topPreserveThreshold,
    recencyRetention: given.recency,
    workspaceRoot: given.workspace,
    threads: given.threads,
    price: given.price,
    removalsFile: given.removalLog === undefined ? undefined : resolve(given.removalLog),
    summarizer:
      model === null
        ? undefined
        : {
            summarizer: createSummarizer(model),
            baseUrl: model.baseUrl,
            model: model.model,
            fallbackToTruncation: given.fallbackToTruncation === true,
          },
    signal,
    onProgress: progress.begin(transcript.entries.length, 'replaying', 'entries'),
    session,
    explains,
  });
}

/** Plays the files of a folder one after the other. Yields an `UnreadFile` for a file that cannot be read. */
export async function* playFiles(
  files: readonly string[],
  given: PlayArguments,
  model: ModelChoice | null,
  options: Omit<PlayFileOptions, 'session'>,
): AsyncGenerator<Recording | UnreadFile> {
  const { signal, progress } = options;
  const update = progress.begin(files.length, 'playing', 'files');
  // The bar counts files, not the stages of each.
  const quietly = { ...options, progress: await openProgress(true) };
  for (const [at, file] of files.entries()) {
    try {
      yield await playFile(file, given, model, quietly);
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnreadable(error)) throw error;
      yield { file, code: error.code, reason: error.message };
    }
    update(at + 1);
  }
}
