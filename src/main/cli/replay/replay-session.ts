// Makes a session like the one that was recorded, has the transcript played through it, and returns
// what came of it as a value. Prints nothing.

import { createCompactor } from '../../../index.js';
import { readRemovals } from '../../../removal-log.js';
import type {
  CompressionStrategyName,
  EphemeralSettings,
  IContent,
  OffloadMode,
  Summarizer,
  Session,
} from '../../../index.js';
import type { DensityConfig } from '../../../density.js';
import type { Transcript } from '../../../transcripts.js';
import { densityConfigOf } from '../measure/density-config.js';
import { LoopMonitor } from './loop-monitor.js';
import type { RemovalsReport, ReplayReport, ReplaySettings } from './replay-report.js';
import { SessionPlayer } from './session-player.js';
import { SummarizerMeter } from './summarizer-meter.js';
import { groupWarnings } from '../measure/warning-groups.js';

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
  /** Looks on, as a report does that shows each turn. */
  readonly observer?: ReplayObserver | undefined;
}

/** Looks on while a transcript is played. What it does in `settle` is not measured. */
export interface ReplayObserver {
  /** Told of the session before anything is played, and of what its density passes are made by. */
  readonly begin: (session: Session, density: DensityConfig) => void;
  /** Told after each entry, when it was added. */
  readonly noteEntry: (entry: IContent) => void;
  /** Told when all was played; the session is still open. */
  readonly settle: (session: Session) => Promise<void>;
}

/** The model that writes summaries, and what the report says of it. */
export interface SummarizerOptions {
  readonly summarizer: Summarizer;
  readonly baseUrl: string;
  readonly model: string;
  /** Whether truncation takes the place of a summary that failed. */
  readonly fallbackToTruncation: boolean;
}

/** Items that the list of the largest holds. */
const LARGEST_ITEMS = 10;

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
): Promise<ReplayReport> {
  const workspaceRoot = options.workspaceRoot ?? transcript.workspaceRoot;
  const { strategy, removalsFile, signal, observer } = options;
  const onProgress = (playedEntries: number): void => {
    const entry = transcript.entries[playedEntries - 1];
    if (entry !== undefined) observer?.noteEntry(entry);
    options.onProgress?.(playedEntries);
  };
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
  });
  const density = densityConfigOf(transcript, options);
  const playing = { strategy, meter, signal, onProgress };
  const player = new SessionPlayer(session, transcript, playing);
  observer?.begin(session, density);
  const monitor = await LoopMonitor.start();
  await player.play();
  const eventLoop = await monitor.finish();
  const offload = session.stats();
  // From here on the workers count for the report alone.
  const reclaimed = await player.ledger.settle(
    (contents) => session.history.countEach(contents),
    LARGEST_ITEMS,
  );
  await observer?.settle(session);
  return {
    reportVersion: 1,
    file,
    format: transcript.format,
    workspaceRoot: workspaceRoot ?? null,
    settings: reportedSettings(options),
    entries: transcript.entries.length,
    ...player.summarize(reclaimed, options.contextLimit),
    reclaimed: reclaimed.totals,
    removals:
      removalsFile === undefined ? null : await countRemovals(removalsFile, session.sessionId),
    mainThread: { ...eventLoop, ...player.windowTimes() },
    offload,
    failures: player.failures,
    warnings: groupWarnings(transcript.warnings),
  };
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
