// Plays the entries of a transcript through a session: a preflight before each answer of the
// model, as the agent would have had it. Notes what happens; reads no file and prints nothing.

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CompressionExecutionError,
  ContextWindowExceededError,
  SummarizerError,
  SummaryRejectedError,
} from '../../../index.js';
import type { CompressionStrategyName, IContent, Session } from '../../../index.js';
import type { Transcript } from '../../../transcripts.js';
import { attributeCompression } from '../measure/attribution.js';
import { startStretch } from './loop-monitor.js';
import { ReclaimLedger } from './reclaim-ledger.js';
import type { Reclaimed } from './reclaim-ledger.js';
import type {
  CompressionFailure,
  CompressionReport,
  FittingReport,
  MainThreadFigures,
  ModelCall,
  ReplayReport,
  SummarizerUse,
  TokenPair,
  WindowExceeded,
} from './replay-report.js';
import { NO_USE, sumUse } from './summarizer-meter.js';
import type { SummarizerMeter } from './summarizer-meter.js';

/** What a session is played with. */
export interface PlayOptions {
  /** The session's strategy. */
  readonly strategy: CompressionStrategyName;
  /** Keeps count of what the session's strategy asks. */
  readonly meter?: SummarizerMeter | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told after each entry how many were played. */
  readonly onProgress?: ((playedEntries: number) => void) | undefined;
}

/** One preflight. */
interface Window {
  /** Index of the entry that answers, or the number of entries played for the last one. */
  readonly entry: number;
  readonly tokens: TokenPair;
  readonly compressions: readonly CompressionReport[];
  readonly fitted: FittingReport | null;
  readonly summarizer: SummarizerUse;
  readonly waitMs: number;
  readonly busyMs: number;
}

const NO_WINDOW: ModelCall = {
  entry: 0,
  tokens: { without: 0, with: 0 },
  edits: [],
  compressions: [],
  fitted: null,
  summarizer: NO_USE,
  waitMs: 0,
};

type Summary = Pick<
  ReplayReport,
  | 'exceeded'
  | 'compressionFailure'
  | 'playedEntries'
  | 'modelCalls'
  | 'end'
  | 'input'
  | 'firstCallOverLimit'
  | 'largest'
  | 'summarizer'
>;

/** Plays one transcript, once. */
export class SessionPlayer {
  readonly ledger: ReclaimLedger;
  /** Failures that did not end the replay. */
  readonly failures: string[] = [];
  readonly #session: Session;
  readonly #entries: readonly IContent[];
  readonly #contextStarts: ReadonlySet<number>;
  readonly #options: PlayOptions;
  readonly #windows: Window[] = [];
  readonly #fresh: IContent[] = [];
  #compressions: CompressionReport[] = [];
  #fitted: FittingReport | null = null;
  #exceeded: WindowExceeded | null = null;
  #compressionFailure: CompressionFailure | null = null;
  /** The history as this class knows it: what the last event or addition left. */
  #known: IContent[] = [];
  /** Entries that compressions put in. */
  readonly #putIn = new Set<IContent>();
  #tokensWithout = 0;
  #playedEntries = 0;

  constructor(session: Session, transcript: Transcript, options: PlayOptions) {
    this.#session = session;
    this.#entries = transcript.entries;
    this.#contextStarts = new Set(transcript.contextStarts);
    this.#options = options;
    this.ledger = new ReclaimLedger(transcript.preset.toolCatalog);
    this.#listen();
  }

  #listen(): void {
    const session = this.#session;
    session.on('pruned', ({ changes, edits }) => {
      this.ledger.notePass(changes, edits, this.#windows.length);
      this.#known = session.history.getAll();
    });
    session.on('compressed', (event) => {
      this.#compressions.push({
        strategy: event.strategy,
        outcome: event.outcome,
        reason: event.reason ?? null,
        fallbackFrom: event.fallbackFrom?.strategy ?? null,
        isByModel: event.llmCallMade,
        tokensBefore: event.tokensBefore,
        tokensAfter: event.tokensAfter,
      });
      if (event.fallbackFrom !== undefined) this.failures.push(event.fallbackFrom.error.message);
      if (event.outcome === 'applied') this.#noteCompression(event.llmCallMade);
    });
    session.on('fitted', ({ summarizedEntries, droppedEntries, tokensBefore, tokensAfter }) => {
      this.#fitted = { summarizedEntries, droppedEntries, tokensBefore, tokensAfter };
      this.#noteCompression(false);
    });
    session.on('compressionFailed', ({ error }) => {
      if (error instanceof CompressionExecutionError) this.#noteFailure(error);
      else this.failures.push(`compression: ${error.message}`);
    });
    session.on('fallback', ({ task, error }) => {
      this.failures.push(`${task}: ${error.message}`);
    });
  }

  /**
   * Plays all entries, or those up to where the session stops fitting or a compression fails: what
   * comes after would not show the strategy any more.
   *
   * @throws the signal's reason; what ctxfold throws for other reasons.
   */
  async play(): Promise<void> {
    for (const entry of this.#entries) {
      if (this.#contextStarts.has(this.#playedEntries)) this.#beginContext();
      if (entry.speaker === 'ai') {
        await this.#openWindow();
        if (this.#hasStopped) return;
      }
      this.#add(entry);
      this.#options.onProgress?.(this.#playedEntries);
    }
    if (this.#entries.length > 0) await this.#openWindow();
  }

  /** The agent compacted its history: its context is what comes from here on, with ctxfold and without. */
  #beginContext(): void {
    this.#session.history.clear();
    this.#known = [];
    this.#fresh.length = 0;
    this.#tokensWithout = 0;
  }

  get #hasStopped(): boolean {
    return this.#exceeded !== null || this.#compressionFailure !== null;
  }

  #add(entry: IContent): void {
    this.ledger.learn(entry);
    this.#session.history.add(entry);
    this.#known.push(entry);
    this.#fresh.push(entry);
    this.#playedEntries += 1;
  }

  #noteCompression(isByModel: boolean): void {
    const compressed = this.#session.history.getAll();
    const origin = { isByModel, putIn: this.#putIn };
    const attributions = attributeCompression(this.#known, compressed, origin);
    this.ledger.note(attributions, this.#windows.length);
    for (const { before, after } of attributions) {
      if (before === null && after !== null) this.#putIn.add(after);
    }
    this.#known = compressed;
  }

  #noteFailure(error: CompressionExecutionError): void {
    const reason = error instanceof SummaryRejectedError ? error.reason : null;
    const tokens = this.#session.history.getTotalTokens();
    const { message, code } = error;
    this.#compressionFailure = { message, said: wordsOfServer(error), code, reason };
    this.#compressions.push({
      strategy: this.#options.strategy,
      outcome: 'failed',
      reason,
      fallbackFrom: null,
      isByModel: false,
      tokensBefore: tokens,
      tokensAfter: tokens,
    });
  }

  async #openWindow(): Promise<void> {
    const session = this.#session;
    const read = startStretch();
    await session.history.waitForTokenUpdates();
    // The counts are there: this reads them before an edit takes entries away.
    const counts = await session.history.countEach(this.#fresh.splice(0));
    this.#tokensWithout += counts.reduce((sum, tokens) => sum + tokens, 0);
    await this.#send();
    this.#windows.push({
      entry: this.#playedEntries,
      tokens: { without: this.#tokensWithout, with: session.history.getTotalTokens() },
      compressions: this.#compressions,
      fitted: this.#fitted,
      summarizer: this.#options.meter?.take() ?? NO_USE,
      ...read(),
    });
    this.#compressions = [];
    this.#fitted = null;
    // An agent would now wait for its model.
    await nextTurn();
  }

  async #send(): Promise<void> {
    const promptId = `replay-${this.#windows.length + 1}`;
    const { signal } = this.#options;
    try {
      await this.#session.ensureCompressionBeforeSend(promptId, 0, 'replay', { signal });
    } catch (error) {
      if (error instanceof ContextWindowExceededError) {
        const { message, projectedTokens, contextLimit } = error;
        this.#exceeded = { message, projectedTokens, contextLimit };
      } else if (error instanceof CompressionExecutionError) this.#noteFailure(error);
      else throw error;
    }
  }

  /** Sums up. The last window answers nothing: it shows what the session ends with. */
  summarize({ edits, largest }: Reclaimed, contextLimit: number): Summary {
    const windows = this.#windows.map(({ busyMs: _, ...window }, at) => {
      return { ...window, edits: edits.get(at) ?? [] };
    });
    const modelCalls = windows.slice(0, -1);
    const { entry: _, ...end } = windows.at(-1) ?? NO_WINDOW;
    const sum = (side: keyof TokenPair): number =>
      modelCalls.reduce((total, { tokens }) => total + tokens[side], 0);
    const overLimit = windows.findIndex(({ tokens }) => tokens.without > contextLimit);
    return {
      exceeded: this.#exceeded,
      compressionFailure: this.#compressionFailure,
      playedEntries: this.#playedEntries,
      modelCalls,
      end,
      input: { without: sum('without'), with: sum('with') },
      firstCallOverLimit: overLimit === -1 ? null : overLimit + 1,
      largest: largest.map(({ window, ...item }) => {
        return { ...item, modelCall: window < modelCalls.length ? window + 1 : null };
      }),
      summarizer: sumUse(windows.map(({ summarizer }) => summarizer)),
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

/** A summarizer's error holds what its server said, and nothing more, as its cause. */
function wordsOfServer({ cause }: Error): string | null {
  const isOfSummarizer = cause instanceof SummarizerError && cause.cause instanceof Error;
  return isOfSummarizer ? (cause.cause as Error).message : null;
}
