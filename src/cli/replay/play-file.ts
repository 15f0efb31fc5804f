// Plays files by the options of the command line, with a progress bar for each stage.

import { resolve } from 'node:path';
import { interruptible } from '../terminal/interruptible.js';
import { openProgress } from '../terminal/progress-bar.js';
import { readSummarizer } from './model-options.js';
import { readPrice } from './money.js';
import type { Recording } from './recording.js';
import type { PlayArguments } from './replay-command.js';
import { createReplayCompactor, replaySession } from './replay-session.js';
import type { ReplayOptions, ReplaySetup } from './replay-session.js';
import { findSessionFiles, readSession, unlessUnreadable } from './session-files.js';
import type { SessionFiles, UnreadFile } from './session-files.js';

/**
 * Finds what is at a path and runs a function on it, with options that have a progress bar and end with SIGINT.
 *
 * @throws InterruptedError on SIGINT; what `run` throws.
 */
export function withSessions<Result>(
  path: string,
  setup: ReplaySetup,
  isQuiet: boolean,
  run: (found: SessionFiles, options: ReplayOptions) => Promise<Result>,
): Promise<Result> {
  return interruptible(async (signal) => {
    const progress = await openProgress(isQuiet);
    try {
      return await run(await findSessionFiles(path, signal), { ...setup, signal, progress });
    } finally {
      progress.close();
    }
  });
}

/** Returns the replay setup for the options of a command. @throws UsageError if an option is invalid. */
export function setupOf({ price, ...given }: PlayArguments): ReplaySetup {
  const { removalLog } = given;
  return {
    ...given,
    price: price === undefined ? undefined : readPrice(price),
    removalLog: removalLog === undefined ? undefined : resolve(removalLog),
    summarizer: readSummarizer(given, process.env),
  };
}

/** How to play several files. */
export interface PlayFilesOptions extends ReplayOptions {
  /** What the progress bar says. @default 'playing' */
  readonly doing?: string;
  /** Number of files to play at the same time; 1 with a summarizer. @default 1 */
  readonly atOnce?: number;
}

/** The results of playing several files. */
export interface PlayedFiles<Digest> {
  /** In the order of the files. */
  readonly sessions: readonly Digest[];
  /** Files of a folder that cannot be read as sessions. */
  readonly unread: readonly UnreadFile[];
}

/**
 * Plays files and keeps only a digest of each, because a folder may have hundreds. All files share a compactor, because starting
 * threads takes longer than playing a short session.
 *
 * @throws the signal's reason; errors of playing, and of reading a file that was not found in a folder.
 */
export async function playFiles<Digest>(
  { isFolder, files }: SessionFiles,
  { doing = 'playing', atOnce = 1, ...given }: PlayFilesOptions,
  digest: (recording: Recording) => Digest,
): Promise<PlayedFiles<Digest>> {
  const { signal, progress } = given;
  await using compactor = createReplayCompactor(given);
  // With several files the bar counts files; a single file shows its own stages.
  const isSingle = files.length === 1;
  const update = isSingle ? undefined : progress?.begin(files.length, doing, 'files');
  const options = { ...given, compactor, ...(!isSingle && { progress: undefined }) };
  const outcomes: (UnreadFile | { readonly played: Digest })[] = [];
  const rest = files.entries();
  let doneFiles = 0;
  const play = async (file: string): Promise<{ readonly played: Digest }> => {
    const recording = await replaySession(file, await readSession(file, options), options);
    signal?.throwIfAborted();
    return { played: digest(recording) };
  };
  const work = async (): Promise<void> => {
    // The concurrent loops share one iterator, so that each file is played exactly once.
    for (const [at, file] of rest) {
      outcomes[at] = await (isFolder
        ? unlessUnreadable(file, signal, () => play(file))
        : play(file));
      doneFiles += 1;
      update?.(doneFiles);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, files.length) }, work));
  return {
    sessions: outcomes.flatMap((outcome) => ('played' in outcome ? [outcome.played] : [])),
    unread: outcomes.filter((outcome) => 'code' in outcome),
  };
}
