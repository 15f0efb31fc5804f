// Makes a session like the one that was recorded, has the transcript played through it, and returns
// what came of it as a value. Prints nothing.

import { createCompactor } from '../../../index.js';
import { readRemovals } from '../../../removal-log.js';
import type {
  CompressionStrategyName,
  EphemeralSettings,
  OffloadMode,
  Summarizer,
  EditPolicy,
} from '../../../index.js';
import type { Transcript } from '../../../transcripts.js';
import { densityConfigOf } from '../measure/density-config.js';
import { LoopMonitor } from './loop-monitor.js';
import type { RemovalsReport, ReplayReport, ReplaySettings } from './replay-report.js';
import { SummarizerMeter } from './summarizer-meter.js';
import { groupWarnings } from '../measure/warning-groups.js';
import { recordingOf } from './recording.js';
import type { Recording } from './recording.js';
import { replayTotals } from './replay-totals.js';
import { SessionRecorder } from './session-recorder.js';
import { playEntries } from './session-player.js';

/** How to play a transcript. */
export interface ReplayOptions {
  readonly contextLimit: number;
  readonly offload: OffloadMode;
  readonly strategy: CompressionStrategyName;
  /** @default what the transcript recorded, else the working directory */
  readonly workspaceRoot?: string | undefined;
  readonly threshold?: number | undefined;
  readonly preserveThreshold?: number | undefined;
  readonly topPreserveThreshold?: number | undefined;
  /** Results to keep per tool; switches recency pruning on. */
  readonly recencyRetention?: number | undefined;
  readonly threads?: number | undefined;
  /** Needed by strategies that ask a model. */
  readonly summarizer?: SummarizerOptions | undefined;
  /** A file that what edits take away is appended to. */
  readonly removalsFile?: string | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each entry how many were played. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
  /** When edits may land. @default the session's */
  readonly edits?: EditPolicy | undefined;
  /** Whether the recording says why each edit was made: that takes as long as a pass for each of them. */
  readonly explains?: boolean | undefined;
}

/** The model that writes summaries, and what the report says of it. */
export interface SummarizerOptions {
  readonly summarizer: Summarizer;
  readonly baseUrl: string;
  readonly model: string;
  /** Whether truncation takes the place of a summary that failed. */
  readonly fallbackToTruncation: boolean;
}

/**
 * Plays a transcript and returns what came of it. A session that cannot be made to fit the context
 * window and a compression that fails end the replay early, and are no errors: the report says so.
 *
 * @param file how the report names the transcript
 * @throws the signal's reason; what ctxfold throws for other reasons.
 */
export async function replaySession(
  file: string,
  transcript: Transcript,
  options: ReplayOptions,
): Promise<Recording> {
  const workspaceRoot = options.workspaceRoot ?? transcript.workspaceRoot;
  const { strategy, removalsFile, signal, onProgress, edits } = options;
  const meter =
    options.summarizer === undefined
      ? undefined
      : new SummarizerMeter(options.summarizer.summarizer);
  await using compactor = createCompactor({
    contextLimit: options.contextLimit,
    workspaceRoot,
    offload: options.offload,
    threads: options.threads,
    settings: sessionSettings(options),
    summarizer: meter,
  });
  const session = await compactor.createSession({
    density: transcript.preset,
    removalLogPath: removalsFile,
    edits,
  });
  const recorder = new SessionRecorder(session, strategy, meter);
  const monitor = await LoopMonitor.start();
  await playEntries(session, transcript, { recorder, signal, onProgress });
  const eventLoop = await monitor.finish();
  const offload = session.stats();
  // From here on the workers count for the report alone.
  const recorded = await recordingOf(recorder, {
    catalog: transcript.preset.toolCatalog,
    density: options.explains === true ? densityConfigOf(transcript, options) : undefined,
    countEach: (contents) => session.history.countEach(contents),
  });
  const report: ReplayReport = {
    reportVersion: 1,
    file,
    format: transcript.format,
    workspaceRoot: workspaceRoot ?? null,
    settings: reportedSettings(options),
    entries: transcript.entries.length,
    ...replayTotals(recorder, recorded.rows, options.contextLimit),
    removals:
      removalsFile === undefined ? null : await countRemovals(removalsFile, session.sessionId),
    mainThread: { ...eventLoop, ...recorder.windowTimes() },
    offload,
    failures: recorder.failures,
    warnings: groupWarnings(transcript.warnings),
  };
  return { ...recorded, report };
}

function sessionSettings(options: ReplayOptions): EphemeralSettings {
  return {
    'compression.strategy': options.strategy,
    'compression.threshold': options.threshold,
    'compression.preserveThreshold': options.preserveThreshold,
    'compression.topPreserveThreshold': options.topPreserveThreshold,
    'compression.fallbackToTruncation': options.summarizer?.fallbackToTruncation,
    'compression.density.recencyPruning': options.recencyRetention !== undefined,
    'compression.density.recencyRetention': options.recencyRetention,
  };
}

function reportedSettings(options: ReplayOptions): ReplaySettings {
  const { summarizer } = options;
  return {
    contextLimit: options.contextLimit,
    strategy: options.strategy,
    threshold: options.threshold ?? null,
    preserveThreshold: options.preserveThreshold ?? null,
    topPreserveThreshold: options.topPreserveThreshold ?? null,
    recencyRetention: options.recencyRetention ?? null,
    offload: options.offload,
    threads: options.threads ?? null,
    summarizer:
      summarizer === undefined
        ? null
        : {
            baseUrl: summarizer.baseUrl,
            model: summarizer.model,
            contextLimit: summarizer.summarizer.contextLimit,
            fallbackToTruncation: summarizer.fallbackToTruncation,
          },
  };
}

/** The file may hold records of earlier sessions too. */
async function countRemovals(file: string, sessionId: string): Promise<RemovalsReport> {
  let records = 0;
  for await (const { record } of readRemovals(file)) {
    if (record.sessionId === sessionId) records += 1;
  }
  return { file, records };
}
