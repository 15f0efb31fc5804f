// Analyzes many sessions, a few at a time, so that parsing here overlaps with counting on worker threads
// and only a few histories are in memory.

import { availableParallelism } from 'node:os';
import type { Compactor } from '../../../index.js';
import type { TranscriptFormat } from '../../../transcripts.js';
import { createReplayCompactor, replayIn } from '../replay/replay-session.js';
import type { ReplayOptions, ReplaySetup } from '../replay/replay-session.js';
import { analyzeRecording } from './analysis.js';
import { readSession, unlessUnreadable } from '../replay/session-files.js';
import type { UnreadFile } from '../replay/session-files.js';
import type { Progress } from '../terminal/progress-bar.js';
import type { SessionAnalysis } from './analysis-report.js';

/** How to analyze files. */
export interface AnalyzeOptions extends Partial<ReplaySetup> {
  readonly format?: TranscriptFormat | undefined;
  /** Whether unreadable files are skipped and listed with the reason; otherwise they reject. */
  readonly skipsUnreadable: boolean;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Shows the number of files, or the entries of a single file. */
  readonly progress?: Progress | undefined;
}

/** The results of analyzing files. */
export interface AnalyzedFiles {
  /** Most tokens first. */
  readonly sessions: readonly SessionAnalysis[];
  /** In the order of the given files. */
  readonly unread: readonly UnreadFile[];
}

const MAX_THREADS = 8;

/** Analyzes files. @throws the signal's reason; errors of reading and counting. */
export async function analyzeFiles(
  files: readonly string[],
  options: AnalyzeOptions,
): Promise<AnalyzedFiles> {
  const { progress } = options;
  const threads = options.threads ?? Math.min(MAX_THREADS, availableParallelism());
  const play: ReplayOptions = { offload: 'auto', strategy: 'high-density', ...options, threads };
  await using compactor = createReplayCompactor(play);
  const isSingle = files.length === 1;
  const update = isSingle ? undefined : progress?.begin(files.length, 'analyzing', 'files');
  const outcomes: (SessionAnalysis | UnreadFile)[] = [];
  const rest = files.entries();
  let doneFiles = 0;
  const work = async (): Promise<void> => {
    // All loops share one iterator, so that each file is analyzed once.
    for (const [at, file] of rest) {
      outcomes[at] = await analyzeFile(
        file,
        compactor,
        options,
        play,
        isSingle ? progress : undefined,
      );
      doneFiles += 1;
      update?.(doneFiles);
    }
  };
  // One more than threads, so that one file is parsed while the threads count others.
  await Promise.all(Array.from({ length: Math.min(threads + 1, files.length) }, work));
  return {
    sessions: outcomes
      .filter((outcome) => 'tokens' in outcome)
      .sort((a, b) => b.tokens.without - a.tokens.without),
    unread: outcomes.filter((outcome) => 'code' in outcome),
  };
}

async function analyzeFile(
  file: string,
  compactor: Compactor,
  { format, skipsUnreadable, signal }: AnalyzeOptions,
  play: ReplayOptions,
  progress: Progress | undefined,
): Promise<SessionAnalysis | UnreadFile> {
  const analyze = async (): Promise<SessionAnalysis> => {
    const transcript = await readSession(file, { format, signal, progress });
    const onProgress = progress?.begin(transcript.entries.length, 'replaying', 'entries');
    const recording = await replayIn(compactor, file, transcript, { ...play, onProgress });
    signal?.throwIfAborted();
    const { warnings } = recording.report;
    return { file, format: transcript.format, ...analyzeRecording(recording), warnings };
  };
  return skipsUnreadable ? unlessUnreadable(file, signal, analyze) : analyze();
}
