// Reads and plays files by the options of the command line, with a progress bar for each stage.

import { resolve } from 'node:path';
import type { Transcript } from '../../../transcripts.js';
import { interruptible } from '../terminal/interruptible.js';
import { openProgress } from '../terminal/progress-bar.js';
import type { Progress } from '../terminal/progress-bar.js';
import { createSummarizer } from './model-options.js';
import type { ModelChoice } from './model-options.js';
import type { Recording } from './recording.js';
import type { PlayArguments } from './replay-command.js';
import { replaySession } from './replay-session.js';
import type { ReplayOptions, ReplaySetup } from './replay-session.js';
import { findSessionFiles, readSession, unlessUnreadable } from './session-files.js';
import type { SessionFiles, UnreadFile } from './session-files.js';

/** What is found at a path, and the means of playing it. */
export interface Playing extends SessionFiles {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Finds what is at a path and runs a function on it, with a progress bar, until SIGINT. @throws InterruptedError on SIGINT; what `run` throws. */
export function withSessions<Result>(
  path: string,
  isQuiet: boolean,
  run: (playing: Playing) => Promise<Result>,
): Promise<Result> {
  return interruptible(async (signal) => {
    const progress = await openProgress(isQuiet);
    try {
      return await run({ ...(await findSessionFiles(path, signal)), signal, progress });
    } finally {
      progress.close();
    }
  });
}

/** How to play a file, besides the options of the command line. */
export type PlayFileOptions = Pick<Playing, 'signal' | 'progress'> &
  Pick<ReplayOptions, 'session' | 'explains'>;

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
    ...setupOf(given, model),
    removalsFile: given.removalLog === undefined ? undefined : resolve(given.removalLog),
    signal,
    onProgress: progress.begin(transcript.entries.length, 'replaying', 'entries'),
    session,
    explains,
  });
}

/** Returns the setup that the options of a command ask for. */
export function setupOf(given: PlayArguments, model: ModelChoice | null): ReplaySetup {
  return {
    ...given,
    recencyRetention: given.recency,
    workspaceRoot: given.workspace,
    summarizer:
      model === null
        ? undefined
        : {
            summarizer: createSummarizer(model),
            baseUrl: model.baseUrl,
            model: model.model,
            fallbackToTruncation: given.fallbackToTruncation === true,
          },
  };
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
    yield await unlessUnreadable(file, signal, () => playFile(file, given, model, quietly));
    update(at + 1);
  }
}
