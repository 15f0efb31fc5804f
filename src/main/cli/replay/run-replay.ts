// One run of `replay`: reads, plays, prints. The only file that touches the terminal and the signals
// of the process while that goes on.

import { resolve } from 'node:path';
import { readTranscript } from '../../../transcripts.js';
import { EXIT } from '../terminal/exit-codes.js';
import { InterruptedError } from '../terminal/interrupted-error.js';
import { createSummarizer } from './model-options.js';
import type { ModelChoice } from './model-options.js';
import { openProgressBar } from '../terminal/progress-bar.js';
import { renderReport } from './render-report.js';
import type { PlayArguments, ReplayArguments } from './replay-command.js';
import { stopMessage } from './replay-report.js';
import type { ReplayReport } from './replay-report.js';
import { replaySession } from './replay-session.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { contentLabel } from '../terminal/content-label.js';
import { jsonText, printable } from '../terminal/terminal-text.js';
import type { ReplayOptions } from './replay-session.js';
import type { Recording } from './recording.js';

/**
 * Replays a file and prints the report.
 *
 * @param model the model that writes summaries, when the strategy asks one
 * @returns the exit code
 * @throws InterruptedError on SIGINT; what reading or playing throws.
 */
export async function runReplay(
  file: string,
  given: ReplayArguments,
  model: ModelChoice | null,
): Promise<number> {
  const isQuiet = given.json === true;
  const { report } = await interruptible((signal) =>
    playFile(file, given, model, { signal, isQuiet }),
  );
  process.stdout.write(
    isQuiet ? jsonText(report, contentLabel(given.redact)) : renderReport(report, terminalLayout()),
  );
  // Whoever looks at the report has just read it there.
  return tellStop(report, isQuiet || !process.stdout.isTTY);
}

/** Returns the exit code of a replay, and says on stderr why it ended before its time. */
export function tellStop(report: ReplayReport, isTold: boolean): number {
  const stop = stopMessage(report);
  if (stop === null) return EXIT.done;
  if (isTold) console.error(`ctxfold: ${printable(stop)}`);
  return report.compressionFailure === null ? EXIT.windowExceeded : EXIT.compressionFailed;
}

/**
 * Runs something that a first SIGINT ends.
 *
 * @throws InterruptedError on SIGINT, by way of the signal; what `run` throws.
 */
export async function interruptible<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interruption = new AbortController();
  // Once only: a second SIGINT ends the process at once.
  const onInterrupt = (): void => {
    interruption.abort(new InterruptedError());
  };
  process.once('SIGINT', onInterrupt);
  try {
    return await run(interruption.signal);
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** What goes with the playing of a file. */
export interface PlayFileOptions extends Pick<ReplayOptions, 'session' | 'explains'> {
  readonly signal: AbortSignal;
  /** Shows no progress. */
  readonly isQuiet?: boolean;
}

/**
 * Reads a file and plays it, as the options of the command line say.
 *
 * @throws the signal's reason; what reading or playing throws.
 */
export async function playFile(
  file: string,
  given: PlayArguments,
  model: ModelChoice | null,
  { signal, isQuiet = false, session, explains }: PlayFileOptions,
): Promise<Recording> {
  const { format } = given;
  const transcript = await readTranscript(file, {
    signal,
    ...(format !== undefined && { format }),
  });
  const isWatched = process.stderr.isTTY && !isQuiet;
  const progress = isWatched ? await openProgressBar(transcript.entries.length) : undefined;
  try {
    return await replaySession(file, transcript, {
      contextLimit: given.contextLimit,
      offload: given.offload,
      strategy: given.strategy,
      threshold: given.threshold,
      preserveThreshold: given.preserveThreshold,
      topPreserveThreshold: given.topPreserveThreshold,
      recencyRetention: given.recency,
      workspaceRoot: given.workspace === undefined ? undefined : resolve(given.workspace),
      threads: given.threads,
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
      onProgress: progress?.update,
      session,
      explains,
    });
  } finally {
    progress?.close();
  }
}
