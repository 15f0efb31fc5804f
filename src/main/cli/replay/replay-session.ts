// Makes a session like the one that was recorded, has the transcript played through it, and returns
// what came of it as a value. Prints nothing.

import { createCompactor, modelPrice } from '../../../index.js';
import { readRemovals } from '../../../removal-log.js';
import type {
  Compactor,
  CompressionStrategyName,
  EphemeralSettings,
  ModelPrice,
  OffloadMode,
  SessionOptions,
  Summarizer,
} from '../../../index.js';
import type { Transcript } from '../../../transcripts.js';
import { LoopMonitor } from './loop-monitor.js';
import type { RemovalsReport, ReplayReport, ReplaySettings } from './replay-report.js';
import { SummarizerMeter } from './summarizer-meter.js';
import { recordingOf } from './recording.js';
import type { Recording } from './recording.js';
import { groupWarnings, replayTotals } from './replay-totals.js';
import { SessionRecorder } from './session-recorder.js';
import { PlayClock, playEntries } from './session-player.js';
import { sumInput } from './money.js';
import type { UsedPrice } from './money.js';

/** What transcripts are played with: the options of a compactor, as far as a command line has them. */
export interface ReplaySetup {
  /** @default by the model that the transcript names */
  readonly contextLimit?: number | undefined;
  readonly offload: OffloadMode;
  readonly strategy: CompressionStrategyName;
  /** @default what a transcript recorded, else the working directory */
  readonly workspaceRoot?: string | undefined;
  readonly threshold?: number | undefined;
  readonly preserveThreshold?: number | undefined;
  readonly topPreserveThreshold?: number | undefined;
  /** Results to keep per tool; switches recency pruning on. */
  readonly recencyRetention?: number | undefined;
  readonly threads?: number | undefined;
  /** What all models cost. @default as the table of prices has it by the names that a transcript has */
  readonly price?: ModelPrice | undefined;
  /** Needed by strategies that ask a model. */
  readonly summarizer?: SummarizerOptions | undefined;
}

/** How to play one transcript. */
export interface ReplayOptions extends ReplaySetup {
  /** A file that what edits take away is appended to. */
  readonly removalsFile?: string | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each entry how many were played. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
  /** What the session is told besides, to compare it with one that is told nothing. @default nothing */
  readonly session?: Pick<SessionOptions, 'edits' | 'minReclaimTokens' | 'density'> | undefined;
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

/** As dear as most models, in proportion: what is decided by price is decided as for a model that nobody knows. */
const ASSUMED_MODEL = 'claude-sonnet-4-6';

/** Makes the compactor of one or several replays: `createCompactor` with what was given, and its defaults for all else. */
export function createReplayCompactor(setup: ReplaySetup): Compactor {
  // Of a model that nobody knows, nobody knows either which prompts it caches.
  const assumed = { ...(modelPrice(ASSUMED_MODEL) ?? FREE), leastCachedTokens: undefined };
  const price = setup.price ?? assumed;
  return createCompactor({
    contextLimit: setup.contextLimit,
    workspaceRoot: setup.workspaceRoot,
    offload: setup.offload,
    threads: setup.threads,
    // Recorded turns take no time in which a model could answer: a turn that needs a summary waits for it.
    settings: { ...replaySettings(setup), ...(setup.summarizer && { 'compression.ahead': 1 }) },
    summarizer: setup.summarizer?.summarizer,
    prices: { [setup.price === undefined ? 'default' : '*']: price },
  });
}

const FREE: ModelPrice = { name: '', input: 0, cacheRead: 0, cacheWrite: 0 };

/** The price that most of a session was played with. */
function usedPrice(given: ModelPrice | undefined, model: string | null): UsedPrice {
  if (given !== undefined) return { price: given, origin: 'given' };
  const price = modelPrice(model ?? '');
  if (price !== undefined) return { price, origin: 'recorded' };
  return { price: modelPrice(ASSUMED_MODEL) ?? FREE, origin: 'assumed' };
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
  const { summarizer } = options;
  const meter = summarizer && new SummarizerMeter(summarizer.summarizer);
  const metered = summarizer && meter && { ...summarizer, summarizer: meter };
  await using compactor = createReplayCompactor({ ...options, summarizer: metered });
  return await replayIn(compactor, file, transcript, { ...options, meter });
}

/** The same in a compactor that is there, made by `createReplayCompactor` with the same options. */
export async function replayIn(
  compactor: Compactor,
  file: string,
  transcript: Transcript,
  options: ReplayOptions & { readonly meter?: SummarizerMeter | undefined },
): Promise<Recording> {
  const workspaceRoot = options.workspaceRoot ?? transcript.workspaceRoot;
  const { removalsFile, signal, onProgress, explains = false, meter } = options;
  const { density, ...edits } = options.session ?? {};
  const clock = new PlayClock();
  // The root is the compactor's where all sessions have the same; each transcript has its own.
  const session = await compactor.createSession({
    ...edits,
    density: { ...(workspaceRoot !== undefined && { workspaceRoot }), ...density },
    removalLogPath: removalsFile,
    now: clock.now,
  });
  try {
    const recorder = new SessionRecorder(session, options.strategy, meter);
    const monitor = await LoopMonitor.start();
    await playEntries(session, transcript, { recorder, clock, signal, onProgress });
    const eventLoop = await monitor.finish();
    const offload = session.stats();
    // From here on the workers count for the report alone.
    const recorded = await recordingOf(recorder, {
      density: session.densityConfig,
      explains,
      countEach: (contents) => session.history.countEach(contents),
    });
    const { contextLimit } = session;
    const report: ReplayReport = {
      reportVersion: 1,
      file,
      format: transcript.format,
      workspaceRoot: workspaceRoot ?? null,
      settings: { ...reportedSettings(options), contextLimit },
      entries: transcript.entries.length,
      ...replayTotals(recorder, recorded.rows, contextLimit),
      money: { ...sumInput(recorded.requests), price: usedPrice(options.price, recorded.model) },
      removals:
        removalsFile === undefined ? null : await countRemovals(removalsFile, session.sessionId),
      mainThread: { ...eventLoop, ...recorder.windowTimes() },
      offload,
      failures: recorder.failures,
      warnings: groupWarnings(transcript.warnings),
    };
    return { ...recorded, report };
  } finally {
    await session.close();
  }
}

function replaySettings(options: ReplaySetup): EphemeralSettings {
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

function reportedSettings(options: ReplaySetup): Omit<ReplaySettings, 'contextLimit'> {
  const { summarizer } = options;
  return {
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
