// One run of `replay`: reads, plays, prints. The only file that touches the terminal and the signals
// of the process while that goes on.

import { resolve } from 'node:path';
import { readTranscript } from '../../index.js';
import { EXIT } from './exit-codes.js';
import { InterruptedError } from './interrupted-error.js';
import { createSummarizer } from './model-options.js';
import type { ModelChoice } from './model-options.js';
import { openProgressBar } from './progress-bar.js';
import { renderReport } from './render-report.js';
import type { ReplayArguments } from './replay-command.js';
import { stopMessage, toJsonReport } from './replay-report.js';
import type { ReplayReport } from './replay-report.js';
import { replaySession } from './replay-session.js';
import { printable } from './text-layout.js';

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
  const interruption = new AbortController();
  // Once only: a second SIGINT ends the process at once.
  const onInterrupt = (): void => {
    interruption.abort(new InterruptedError());
  };
  process.once('SIGINT', onInterrupt);
  try {
    const report = await replay(file, given, model, interruption.signal);
    process.stdout.write(
      given.json === true
        ? `${JSON.stringify(toJsonReport(report), null, 2)}\n`
        : renderReport(report, {
            width: process.stdout.isTTY ? process.stdout.columns : DEFAULT_WIDTH,
            isColoured: allowsColours(),
          }),
    );
    const stop = stopMessage(report);
    if (stop === null) return EXIT.done;
    // Whoever looks at the report has just read it there.
    if (given.json === true || !process.stdout.isTTY) console.error(`ctxfold: ${printable(stop)}`);
    return report.compressionFailure === null ? EXIT.windowExceeded : EXIT.compressionFailed;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

const DEFAULT_WIDTH = 80;

async function replay(
  file: string,
  given: ReplayArguments,
  model: ModelChoice | null,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const { format } = given;
  const transcript = await readTranscript(file, {
    signal,
    ...(format !== undefined && { format }),
  });
  const isWatched = process.stderr.isTTY && given.json !== true;
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
      removalsFile: given.transcript === undefined ? undefined : resolve(given.transcript),
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
    });
  } finally {
    progress?.close();
  }
}

/** See https://no-color.org. */
function allowsColours(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}
