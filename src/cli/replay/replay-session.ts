// Creates a session for a transcript, plays the transcript through it, and returns the recording.

import { createCompactor, modelPrice } from '../../index.js';
import { readRemovals } from '../../removal-log.js';
import type { Compactor, ModelPrice, SessionOptions } from '../../index.js';
import type { Transcript } from '../../transcripts.js';
import { watchEventLoop } from './loop-monitor.js';
import { sizeOf } from './session-files.js';
import type { ReadSessionOptions } from './session-files.js';
import type { ModelNames, PlayedSummarizer } from './model-options.js';
import type { PlayArguments } from './replay-command.js';
import type { RemovalsReport, ReplayReport, ReplaySettings } from './replay-report.js';
import { recordingOf } from './recording.js';
import type { Recording } from './recording.js';
import { groupWarnings, replayTotals } from './replay-totals.js';
import { SessionRecorder } from './session-recorder.js';
import { ephemeralSettings } from './settings-snippet.js';
import { PlayClock, playEntries } from './session-player.js';
import { sumInput } from './money.js';
import type { UsedPrice } from './money.js';

/** The options of a command, with the price and the model that they name. */
export interface ReplaySetup extends Omit<PlayArguments, 'price' | keyof ModelNames> {
  /** Price of all models. @default the known prices of the models that the transcript names */
  readonly price?: ModelPrice | undefined;
  /** Required by strategies with a model. */
  readonly summarizer?: PlayedSummarizer | undefined;
}

/** How to play one transcript. */
export interface ReplayOptions extends ReplaySetup, ReadSessionOptions {
  /** A compactor from `createReplayCompactor` with the same options. @default a new one */
  readonly compactor?: Compactor | undefined;
  /** Options that override those of the session, to compare edit policies. */
  readonly session?: Pick<SessionOptions, 'edits' | 'density'> | undefined;
  /** Whether rows say why their edits were made. Takes a density pass per edit of what was sent. @default false */
  readonly explains?: boolean | undefined;
}

const PRICE_OF_ZERO: ModelPrice = { name: '', input: 0, cacheRead: 0, cacheWrite: 0 };

/** Fallback price of unknown models. Edits depend only on the ratio of input to cache prices, which is that of most models. */
const ASSUMED_PRICE: ModelPrice = modelPrice('claude-sonnet-4-6') ?? PRICE_OF_ZERO;

/** Creates the compactor of one or several replays. */
export function createReplayCompactor(setup: ReplaySetup): Compactor {
  // The minimum prompt size for caching is specific to the model, so the fallback price must not state one.
  const price = setup.price ?? { ...ASSUMED_PRICE, leastCachedTokens: undefined };
  return createCompactor({
    contextLimit: setup.contextLimit,
    offload: setup.offload,
    threads: setup.threads,
    // 1 disables requesting summaries ahead: replayed turns follow at once, so no summary would be ready when needed. A replay with a
    // model is about that model: none other takes its place.
    settings: {
      ...ephemeralSettings(reportedSettings(setup)),
      ...(setup.summarizer && { 'compression.ahead': 1 }),
      ...(setup.strategy !== 'provider' && { 'compression.fallback': setup.strategy }),
    },
    summarizer: setup.summarizer?.summarizer,
    prices: { [setup.price === undefined ? 'default' : '*']: price },
  });
}

/** Returns the price of the model with the most answers, or the given price. */
function usedPrice(given: ModelPrice | undefined, model: string | null): UsedPrice {
  if (given !== undefined) return { price: given, origin: 'given' };
  const price = modelPrice(model ?? '');
  return price === undefined
    ? { price: ASSUMED_PRICE, origin: 'assumed' }
    : { price, origin: 'recorded' };
}

/**
 * Plays a transcript and returns the recording. If the session cannot be made to fit the context window or a compression
 * fails, the replay does not throw: it ends early, and the report tells why.
 *
 * @param file the name of the transcript in the report
 * @throws the signal's reason; other errors of ctxfold.
 */
export async function replaySession(
  file: string,
  transcript: Transcript,
  options: ReplayOptions,
): Promise<Recording> {
  if (options.compactor === undefined) {
    await using compactor = createReplayCompactor(options);
    return await replaySession(file, transcript, { ...options, compactor });
  }
  const workspaceRoot = options.workspace ?? transcript.workspaceRoot;
  const logStart = options.removalLog === undefined ? 0 : await sizeOf(options.removalLog);
  const { removalLog, signal, progress, explains = false } = options;
  const onProgress = progress?.begin(transcript.entries.length, 'replaying', 'entries');
  const { density, ...edits } = options.session ?? {};
  const clock = new PlayClock();
  // Set per session, because each transcript has its own workspace root.
  const session = await options.compactor.createSession({
    ...edits,
    density: { ...(workspaceRoot !== undefined && { workspaceRoot }), ...density },
    removalLogPath: removalLog,
    now: clock.now,
  });
  try {
    const recorder = new SessionRecorder(session, options.strategy, options.summarizer?.summarizer);
    const stopWatching = await watchEventLoop();
    await playEntries(session, transcript, { recorder, clock, signal, onProgress });
    const eventLoop = await stopWatching();
    const offload = session.stats();
    // Must follow `stopWatching` and `stats`: counting for the report uses the workers too and would be measured.
    const recorded = await recordingOf(recorder, session, explains, signal);
    const { contextLimit } = session;
    const report: ReplayReport = {
      reportVersion: 1,
      file,
      format: transcript.format,
      workspaceRoot: workspaceRoot ?? null,
      settings: { ...reportedSettings(options), contextLimit },
      entries: transcript.entries.length,
      exceeded: recorder.exceeded,
      compressionFailure: recorder.compressionFailure,
      playedEntries: recorder.playedEntries,
      ...replayTotals(recorder.preflights, recorded, contextLimit),
      money: { ...sumInput(recorded.requests), price: usedPrice(options.price, recorded.model) },
      removals:
        removalLog === undefined
          ? null
          : await countRemovals(removalLog, session.sessionId, logStart),
      mainThread: { ...eventLoop, ...recorder.preflightTimes() },
      offload,
      failures: recorder.failures,
      warnings: groupWarnings(transcript.warnings),
    };
    return { ...recorded, report };
  } finally {
    await session.close();
  }
}

function reportedSettings(setup: ReplaySetup): Omit<ReplaySettings, 'contextLimit'> {
  return {
    strategy: setup.strategy,
    threshold: setup.threshold ?? null,
    preserveThreshold: setup.preserveThreshold ?? null,
    topPreserveThreshold: setup.topPreserveThreshold ?? null,
    recencyRetention: setup.recency ?? null,
    offload: setup.offload,
    threads: setup.threads ?? null,
    summarizer: setup.summarizer?.settings ?? null,
  };
}

/**
 * Counts what a session has appended to a removal log.
 *
 * @param startOffset the size of the log before: the sessions of a folder share one, which would be read once for each of them
 */
async function countRemovals(
  file: string,
  sessionId: string,
  startOffset: number,
): Promise<RemovalsReport> {
  let records = 0;
  for await (const { record } of readRemovals(file, { startOffset })) {
    if (record.sessionId === sessionId) records += 1;
  }
  return { file, records };
}
