// Creates a session for a transcript, plays the transcript through it, and returns the recording.

import { createCompactor, modelPrice } from '../../index.js';
import { readRemovals } from '../../removal-log.js';
import type {
  Compactor,
  CompressionStrategyName,
  ModelPrice,
  OffloadMode,
  SessionOptions,
  Summarizer,
} from '../../index.js';
import type { Transcript } from '../../transcripts.js';
import { LoopMonitor } from './loop-monitor.js';
import type { ReadSessionOptions } from './session-files.js';
import type { RemovalsReport, ReplayReport, ReplaySettings } from './replay-report.js';
import { SummarizerMeter } from './summarizer-meter.js';
import { recordingOf } from './recording.js';
import type { Recording } from './recording.js';
import { groupWarnings, replayTotals } from './replay-totals.js';
import { SessionRecorder } from './session-recorder.js';
import { ephemeralSettings } from './settings-snippet.js';
import { PlayClock, playEntries } from './session-player.js';
import { sumInput } from './money.js';
import type { UsedPrice } from './money.js';

/** The options of a compactor that commands expose. */
export interface ReplaySetup extends Pick<ReadSessionOptions, 'format'> {
  /** @default that of the model that the transcript names */
  readonly contextLimit?: number | undefined;
  readonly offload: OffloadMode;
  readonly strategy: CompressionStrategyName;
  /** @default as recorded, else the working directory */
  readonly workspaceRoot?: string | undefined;
  readonly threshold?: number | undefined;
  readonly preserveThreshold?: number | undefined;
  readonly topPreserveThreshold?: number | undefined;
  /** Results to keep per tool; enables recency pruning. */
  readonly recencyRetention?: number | undefined;
  readonly threads?: number | undefined;
  /** Price of all models. @default the known prices of the models that the transcript names */
  readonly price?: ModelPrice | undefined;
  /** Required by strategies with a model. */
  readonly summarizer?: SummarizerOptions | undefined;
  /** The removal log. */
  readonly removalsFile?: string | undefined;
}

/** How to play one transcript. */
export interface ReplayOptions extends ReplaySetup, ReadSessionOptions {
  /** Created by `createReplayCompactor` with the same options. @default one for this session */
  readonly compactor?: Compactor | undefined;
  /** Further options of the session, for comparisons. */
  readonly session?: Pick<SessionOptions, 'edits' | 'minReclaimTokens' | 'density'> | undefined;
  /** Whether to explain edits, which costs as much as one pass per edit. @default false */
  readonly explains?: boolean | undefined;
}

/** The model that writes summaries, with its description for the report. */
export interface SummarizerOptions {
  readonly summarizer: Summarizer;
  readonly baseUrl: string;
  readonly model: string;
  /** Whether truncation replaces a failed summary. */
  readonly fallbackToTruncation: boolean;
}

const FREE: ModelPrice = { name: '', input: 0, cacheRead: 0, cacheWrite: 0 };

/** The price of unknown models. Its ratio of input to cache prices, which decides edits, is that of most models. */
const ASSUMED_PRICE: ModelPrice = modelPrice('claude-sonnet-4-6') ?? FREE;

/** Creates the compactor of one or several replays. */
export function createReplayCompactor(setup: ReplaySetup): Compactor {
  // The smallest prompt that an unknown model caches is unknown too.
  const price = setup.price ?? { ...ASSUMED_PRICE, leastCachedTokens: undefined };
  return createCompactor({
    contextLimit: setup.contextLimit,
    workspaceRoot: setup.workspaceRoot,
    offload: setup.offload,
    threads: setup.threads,
    // Played turns leave a model no time to answer, so a summary is requested by the turn that needs it.
    settings: {
      ...ephemeralSettings(reportedSettings(setup)),
      ...(setup.summarizer && { 'compression.ahead': 1 }),
    },
    summarizer: setup.summarizer?.summarizer,
    prices: { [setup.price === undefined ? 'default' : '*']: price },
  });
}

/** Returns the price of most requests of a session. */
function usedPrice(given: ModelPrice | undefined, model: string | null): UsedPrice {
  if (given !== undefined) return { price: given, origin: 'given' };
  const price = modelPrice(model ?? '');
  return price === undefined
    ? { price: ASSUMED_PRICE, origin: 'assumed' }
    : { price, origin: 'recorded' };
}

/**
 * Plays a transcript and returns the recording. A session that cannot be made to fit the context window
 * and a failed compression are not errors: they end the replay early, and the report says so.
 *
 * @param file the name of the transcript in the report
 * @throws the signal's reason; other errors of ctxfold.
 */
export async function replaySession(
  file: string,
  transcript: Transcript,
  options: ReplayOptions,
): Promise<Recording> {
  const { summarizer } = options;
  if (options.compactor !== undefined)
    return replayIn(options.compactor, file, transcript, options);
  const meter = summarizer && new SummarizerMeter(summarizer.summarizer);
  const metered = summarizer && meter && { ...summarizer, summarizer: meter };
  await using compactor = createReplayCompactor({ ...options, summarizer: metered });
  return await replayIn(compactor, file, transcript, options, meter);
}

async function replayIn(
  compactor: Compactor,
  file: string,
  transcript: Transcript,
  options: ReplayOptions,
  meter?: SummarizerMeter,
): Promise<Recording> {
  const workspaceRoot = options.workspaceRoot ?? transcript.workspaceRoot;
  const { removalsFile, signal, progress, explains = false } = options;
  const onProgress = progress?.begin(transcript.entries.length, 'replaying', 'entries');
  const { density, ...edits } = options.session ?? {};
  const clock = new PlayClock();
  // Set per session, because each transcript has its own workspace root.
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
    // Read before this: counting for the report uses the workers as well.
    const recorded = await recordingOf(recorder, session, explains);
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

/** Counts the records of one session; the file may contain those of others. */
async function countRemovals(file: string, sessionId: string): Promise<RemovalsReport> {
  let records = 0;
  for await (const { record } of readRemovals(file)) {
    if (record.sessionId === sessionId) records += 1;
  }
  return { file, records };
}
