// One run of `replay`: reads, plays, prints. The only file that touches the terminal and the signals
// of the process while that goes on.

import { resolve } from 'node:path';
import { readTranscript } from '../../index.js';
import { EXIT } from './exit-codes.js';
import { InterruptedError } from './interrupted-error.js';
import { openProgressBar } from './progress-bar.js';
import { renderReport } from './render-report.js';
import type { ReplayArguments } from './replay-command.js';
import { toJsonReport } from './replay-report.js';
import type { ReplayReport } from './replay-report.js';
import { replaySession } from './replay-session.js';

/**
 * Replays a file and prints the report.
 *
 * @returns the exit code
 * @throws InterruptedError on SIGINT; what reading or playing throws.
 */
export async function runReplay(file: string, given: ReplayArguments): Promise<number> {
  const interruption = new AbortController();
  // Once only: a second SIGINT ends the process at once.
  const onInterrupt = (): void => {
    interruption.abort(new InterruptedError());
  };
  process.once('SIGINT', onInterrupt);
  try {
    const report = await replay(file, given, interruption.signal);
    process.stdout.write(
      given.json === true
        ? `${JSON.stringify(toJsonReport(report), null, 2)}\n`
        : renderReport(report, {
            width: process.stdout.isTTY ? process.stdout.columns : DEFAULT_WIDTH,
            isColoured: allowsColours(),
          }),
    );
    if (report.exceeded === null) return EXIT.done;
    if (given.json === true) console.error(`ctxfold: ${report.exceeded.message}`);
    return EXIT.windowExceeded;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

const DEFAULT_WIDTH = 80;

async function replay(
  file: string,
  given: ReplayArguments,
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
      recencyRetention: given.recency,
      workspaceRoot: given.workspace === undefined ? undefined : resolve(given.workspace),
      threads: given.threads,
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
