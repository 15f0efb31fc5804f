// Reads files and plays them as the options of the command line say, with a bar for each stage. Prints no report.

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

/** What goes with the playing of a file. */
export interface PlayFileOptions extends Pick<ReplayOptions, 'session' | 'explains'> {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/**
 * Reads a file, or stdin, and plays it.
 *
 * @throws the signal's reason; what reading or playing throws.
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

/** Plays a session that was read. @throws the signal's reason; what playing throws. */
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

/** Plays one file of a folder after the other; those that cannot be read are named, and stop nothing. */
export async function* playFiles(
  files: readonly string[],
  given: PlayArguments,
  model: ModelChoice | null,
  options: Omit<PlayFileOptions, 'session'>,
): AsyncGenerator<Recording | UnreadFile> {
  const { signal, progress } = options;
  const update = progress.begin(files.length, 'playing', 'files');
  // The bar counts files.
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
