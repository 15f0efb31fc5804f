// Plays a transcript through a session as its agent would have: a pre-send window before each answer
// of the model. Returns what happened as a value; reads no file and prints nothing.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ContextWindowExceededError, createCompactor } from '../../index.js';
import type {
  CompressionOutcome,
  CompressionStrategyName,
  IContent,
  OffloadMode,
  Transcript,
  TurnOrchestrator,
} from '../../index.js';
import { attributeChange, attributeCompression } from './attribution.js';
import { LoopMonitor, startStretch } from './loop-monitor.js';
import { ReclaimLedger } from './reclaim-ledger.js';
import type { Reclaimed } from './reclaim-ledger.js';
import type {
  MainThreadFigures,
  ModelCall,
  ReplayReport,
  TokenPair,
  WindowExceeded,
} from './replay-report.js';
import { groupWarnings } from './warning-groups.js';

/** How to play a transcript. */
export interface ReplayOptions {
  readonly contextLimit: number;
  readonly offload: OffloadMode;
  readonly strategy: CompressionStrategyName;
  /** @default what the transcript recorded, else the working directory */
  readonly workspaceRoot?: string | undefined;
  readonly threshold?: number | undefined;
  readonly preserveThreshold?: number | undefined;
  /** Results to keep per tool; switches recency pruning on. */
  readonly recencyRetention?: number | undefined;
  readonly threads?: number | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each entry how many were played. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
}

/** Items that the list of the largest holds. */
const LARGEST_ITEMS = 10;

/**
 * Plays a transcript and returns what came of it. A session that cannot be made to fit the context
 * window ends the replay early, and is no error: the report says so.
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
  await using compactor = createCompactor({
    contextLimit: options.contextLimit,
    workspaceRoot,
    offload: options.offload,
    threads: options.threads,
    settings: {
      'compression.strategy': options.strategy,
      'compression.threshold': options.threshold,
      'compression.preserveThreshold': options.preserveThreshold,
      'compression.density.recencyPruning': options.recencyRetention !== undefined,
      'compression.density.recencyRetention': options.recencyRetention,
    },
  });
  const session = await compactor.createSession({ density: transcript.preset });
  const player = new SessionPlayer(session, transcript, options.signal);
  const monitor = await LoopMonitor.start();
  const exceeded = await player.play(options.onProgress);
  const eventLoop = await monitor.finish();
  const offload = session.stats();
  // From here on the workers count for the report alone.
  const reclaimed = await player.ledger.settle(
    (contents) => session.history.countEach(contents),
    LARGEST_ITEMS,
  );
  return {
    reportVersion: 1,
    file,
    format: transcript.format,
    workspaceRoot: workspaceRoot ?? null,
    settings: {
      contextLimit: options.contextLimit,
      strategy: options.strategy,
      threshold: options.threshold ?? null,
      preserveThreshold: options.preserveThreshold ?? null,
      recencyRetention: options.recencyRetention ?? null,
      offload: options.offload,
      threads: options.threads ?? null,
    },
    exceeded,
    entries: transcript.entries.length,
    ...player.summarize(reclaimed, options.contextLimit),
    reclaimed: reclaimed.totals,
    mainThread: { ...eventLoop, ...player.windowTimes() },
    offload,
    failures: player.failures,
    warnings: groupWarnings(transcript.warnings),
  };
}

/** One pre-send window. */
interface Window {
  /** Index of the entry that answers, or the number of entries played for the last one. */
  readonly entry: number;
  readonly tokens: TokenPair;
  readonly compressions: readonly CompressionOutcome[];
  readonly waitMs: number;
  readonly busyMs: number;
}

const NO_WINDOW: ModelCall = {
  entry: 0,
  tokens: { without: 0, with: 0 },
  edits: [],
  compressions: [],
  waitMs: 0,
};

type Summary = Pick<
  ReplayReport,
  'playedEntries' | 'modelCalls' | 'end' | 'input' | 'firstCallOverLimit' | 'largest'
>;

class SessionPlayer {
  readonly ledger: ReclaimLedger;
  readonly failures: string[] = [];
  readonly #session: TurnOrchestrator;
  readonly #entries: readonly IContent[];
  readonly #signal: AbortSignal | undefined;
  readonly #windows: Window[] = [];
  readonly #fresh: IContent[] = [];
  #compressions: CompressionOutcome[] = [];
  /** The history as this class knows it: what the last event or addition left. */
  #known: IContent[] = [];
  #tokensWithout = 0;
  #playedEntries = 0;

  constructor(session: TurnOrchestrator, transcript: Transcript, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#entries = transcript.entries;
    this.#signal = signal;
    this.ledger = new ReclaimLedger(transcript.preset.toolCatalog);
    session.on('optimized', ({ changes }) => {
      this.ledger.note(changes.flatMap(attributeChange), this.#windows.length);
      this.#known = session.history.getAll();
    });
    session.on('compressed', ({ outcome }) => {
      this.#compressions.push(outcome);
      if (outcome === 'applied') this.#noteCompression();
    });
    session.on('fitted', () => {
      this.#noteCompression();
    });
    session.on('compressionFailed', ({ error }) => {
      this.failures.push(`compression: ${error.message}`);
    });
    session.on('fallback', ({ task, error }) => {
      this.failures.push(`${task}: ${error.message}`);
    });
  }

  /** Plays all entries; returns why it stopped early, or `null`. */
  async play(onProgress: ReplayOptions['onProgress']): Promise<WindowExceeded | null> {
    for (const entry of this.#entries) {
      if (entry.speaker === 'ai') {
        const exceeded = await this.#openWindow();
        if (exceeded !== null) return exceeded;
      }
      this.#add(entry);
      onProgress?.(this.#playedEntries);
    }
    return this.#entries.length === 0 ? null : this.#openWindow();
  }

  #add(entry: IContent): void {
    this.ledger.learn(entry);
    this.#session.history.add(entry);
    this.#known.push(entry);
    this.#fresh.push(entry);
    this.#playedEntries += 1;
  }

  #noteCompression(): void {
    const compressed = this.#session.history.getAll();
    this.ledger.note(attributeCompression(this.#known, compressed), this.#windows.length);
    this.#known = compressed;
  }

  async #openWindow(): Promise<WindowExceeded | null> {
    const session = this.#session;
    const read = startStretch();
    await session.history.waitForTokenUpdates();
    // The counts are there: this reads them before an edit takes entries away.
    const counts = await session.history.countEach(this.#fresh.splice(0));
    this.#tokensWithout += counts.reduce((sum, tokens) => sum + tokens, 0);
    const exceeded = await this.#send();
    const tokens = { without: this.#tokensWithout, with: session.history.getTotalTokens() };
    const compressions = this.#compressions;
    this.#compressions = [];
    this.#windows.push({ entry: this.#playedEntries, tokens, compressions, ...read() });
    // An agent would now wait for its model.
    await nextTurn();
    return exceeded;
  }

  async #send(): Promise<WindowExceeded | null> {
    const promptId = `replay-${this.#windows.length + 1}`;
    try {
      await this.#session.ensureCompressionBeforeSend(promptId, 0, 'replay', {
        signal: this.#signal,
      });
      return null;
    } catch (error) {
      if (!(error instanceof ContextWindowExceededError)) throw error;
      const { message, projectedTokens, contextLimit } = error;
      return { message, projectedTokens, contextLimit };
    }
  }

  /** The last window answers nothing: it shows what the session ends with. */
  summarize({ edits, largest }: Reclaimed, contextLimit: number): Summary {
    const windows = this.#windows.map(({ entry, tokens, compressions, waitMs }, at) => {
      return { entry, tokens, edits: edits.get(at) ?? [], compressions, waitMs };
    });
    const modelCalls = windows.slice(0, -1);
    const { entry: _, ...end } = windows.at(-1) ?? NO_WINDOW;
    const sum = (side: keyof TokenPair): number =>
      modelCalls.reduce((total, { tokens }) => total + tokens[side], 0);
    const overLimit = windows.findIndex(({ tokens }) => tokens.without > contextLimit);
    return {
      playedEntries: this.#playedEntries,
      modelCalls,
      end,
      input: { without: sum('without'), with: sum('with') },
      firstCallOverLimit: overLimit === -1 ? null : overLimit + 1,
      largest: largest.map(({ window, ...item }) => {
        return { ...item, modelCall: window < modelCalls.length ? window + 1 : null };
      }),
    };
  }

  windowTimes(): Pick<MainThreadFigures, 'windowWaitMs' | 'windowBusyMs' | 'longestWindowMs'> {
    const waits = this.#windows.map(({ waitMs }) => waitMs);
    return {
      windowWaitMs: waits.reduce((sum, waitMs) => sum + waitMs, 0),
      windowBusyMs: this.#windows.reduce((sum, { busyMs }) => sum + busyMs, 0),
      longestWindowMs: Math.max(0, ...waits),
    };
  }
}
