// Records a session while it is played. Keeps only references, so that the measured times are those of ctxfold and not of this
// bookkeeping. `recording.ts` evaluates the references after the replay.

import type {
  CompressionStrategyName,
  IContent,
  LandingReason,
  PrunedEvent,
  Session,
  CostReport,
} from '../../index.js';
import type { DensityConfig } from '../../density.js';
import {
  CompressionExecutionError,
  ContextWindowExceededError,
  SummarizerError,
  SummaryRejectedError,
} from '../../index.js';
import { maxOf, sumOf } from '../measure/aggregate.js';
import { startStretch } from './loop-monitor.js';
import type {
  CompressionFailure,
  CompressionReport,
  MainThreadFigures,
  ModelCall,
  WindowExceeded,
} from './replay-report.js';
import { NO_USE } from './summarizer-meter.js';
import type { SummarizerMeter } from './summarizer-meter.js';

/** Why an edit was made. */
export type EditCause =
  | { readonly step: 'pruned'; readonly reason: LandingReason }
  | {
      readonly step: 'compressed';
      readonly strategy: CompressionStrategyName;
      readonly isByModel: boolean;
    }
  | { readonly step: 'fitted' };

/** One step of the session: an added entry, the end of a preflight, a new context, or an edit. */
export type RecordedStep =
  | { readonly kind: 'entry'; readonly entry: IContent }
  | { readonly kind: 'preflight' }
  /** The history was cleared. */
  | { readonly kind: 'context' }
  | {
      readonly kind: 'pass';
      readonly cause: EditCause;
      readonly pass: Pick<PrunedEvent, 'changes' | 'edits'>;
      readonly density: DensityConfig;
    }
  /** `after` is the whole history, because the event of a compression lists no changes. */
  | {
      readonly kind: 'compression';
      readonly cause: EditCause;
      readonly after: readonly IContent[];
    };

/** One preflight. Its edits are evaluated after the replay. */
export interface RecordedPreflight extends Omit<ModelCall, 'edits'> {
  /** Time in which the calling thread was busy. */
  readonly busyMs: number;
  /** Running sums over all requests so far. */
  readonly costs: CostReport;
}

/** Records one session. */
export class SessionRecorder {
  readonly steps: RecordedStep[] = [];
  readonly preflights: RecordedPreflight[] = [];
  /** Failures that did not end the replay. */
  readonly failures: string[] = [];
  exceeded: WindowExceeded | null = null;
  compressionFailure: CompressionFailure | null = null;
  playedEntries = 0;
  readonly #session: Session;
  readonly #strategy: CompressionStrategyName;
  readonly #meter: SummarizerMeter | undefined;
  readonly #fresh: IContent[] = [];
  #compressions: CompressionReport[] = [];
  #fitted: ModelCall['fitted'] = null;
  #tokensWithout = 0;

  /** @param meter counts the requests to the summarizer; without it, preflights report none */
  constructor(session: Session, strategy: CompressionStrategyName, meter?: SummarizerMeter) {
    this.#session = session;
    this.#strategy = strategy;
    this.#meter = meter;
    this.#listen();
  }

  #listen(): void {
    const session = this.#session;
    session.on('pruned', ({ changes, edits, reason }) => {
      const cause = { step: 'pruned', reason } as const;
      const density = configOfPass(session.densityConfig, reason);
      this.steps.push({ kind: 'pass', cause, pass: { changes, edits }, density });
    });
    session.on('compressed', (event) => {
      const { strategy, outcome, llmCallMade: isByModel, fallbackFrom } = event;
      this.#compressions.push({
        ...{ strategy, outcome, isByModel },
        reason: event.reason ?? null,
        fallbackFrom: fallbackFrom?.strategy ?? null,
        tokensBefore: event.tokensBefore,
        tokensAfter: event.tokensAfter,
      });
      if (fallbackFrom !== undefined) this.failures.push(fallbackFrom.error.message);
      if (outcome === 'applied') this.#noteWhole({ step: 'compressed', strategy, isByModel });
    });
    session.on('fitted', ({ summarizedEntries, droppedEntries, tokensBefore, tokensAfter }) => {
      this.#fitted = { summarizedEntries, droppedEntries, tokensBefore, tokensAfter };
      this.#noteWhole({ step: 'fitted' });
    });
    session.on('compressionFailed', ({ error }) => {
      if (error instanceof CompressionExecutionError) this.#noteFailure(error);
      else this.failures.push(`compression: ${error.message}`);
    });
    session.on('fallback', ({ task, error }) => {
      this.failures.push(`${task}: ${error.message}`);
    });
  }

  #noteWhole(cause: EditCause): void {
    this.steps.push({ kind: 'compression', cause, after: this.#session.history.getAll() });
  }

  /** Whether the replay must end: after a missed fit or a failed compression, further figures would not be those of the strategy. */
  get hasStopped(): boolean {
    return this.exceeded !== null || this.compressionFailure !== null;
  }

  /** Notes an entry that was added. */
  noteEntry(entry: IContent): void {
    this.steps.push({ kind: 'entry', entry });
    this.#fresh.push(entry);
    this.playedEntries += 1;
  }

  /** Notes that the history was cleared because the agent began a new context. */
  noteContext(): void {
    this.steps.push({ kind: 'context' });
    this.#fresh.length = 0;
    this.#tokensWithout = 0;
  }

  /**
   * Runs a preflight and notes its outcome.
   *
   * @param send runs the preflight
   * @throws errors of `send`, except those that end the replay.
   */
  async recordPreflight(send: () => Promise<unknown>): Promise<void> {
    const { history } = this.#session;
    const read = startStretch();
    await history.waitForTokenUpdates();
    // Count the new entries before the preflight, which may remove them. Their counts are already cached.
    const counts = await history.countEach(this.#fresh.splice(0));
    this.#tokensWithout += sumOf(counts, (tokens) => tokens);
    try {
      await send();
    } catch (error) {
      this.#noteStop(error);
    }
    this.preflights.push({
      entry: this.playedEntries,
      tokens: { without: this.#tokensWithout, with: history.getTotalTokens() },
      compressions: this.#compressions,
      fitted: this.#fitted,
      summarizer: this.#meter?.take() ?? NO_USE,
      ...read(),
      costs: this.#session.costs(),
    });
    this.steps.push({ kind: 'preflight' });
    this.#compressions = [];
    this.#fitted = null;
  }

  #noteStop(error: unknown): void {
    if (error instanceof ContextWindowExceededError) {
      const { message, projectedTokens, contextLimit } = error;
      this.exceeded = { message, projectedTokens, contextLimit };
    } else if (error instanceof CompressionExecutionError) this.#noteFailure(error);
    else throw error;
  }

  #noteFailure(error: CompressionExecutionError): void {
    const reason = error instanceof SummaryRejectedError ? error.reason : null;
    const tokens = this.#session.history.getTotalTokens();
    const { message, code } = error;
    this.compressionFailure = { message, said: wordsOfServer(error), code, reason };
    this.#compressions.push({
      strategy: this.#strategy,
      outcome: 'failed',
      reason,
      fallbackFrom: null,
      isByModel: false,
      tokensBefore: tokens,
      tokensAfter: tokens,
    });
  }

  /** Returns how long the preflights took. */
  preflightTimes(): Pick<MainThreadFigures, 'windowWaitMs' | 'windowBusyMs' | 'longestWindowMs'> {
    return {
      windowWaitMs: sumOf(this.preflights, ({ waitMs }) => waitMs),
      windowBusyMs: sumOf(this.preflights, ({ busyMs }) => busyMs),
      longestWindowMs: maxOf(this.preflights.map(({ waitMs }) => waitMs)),
    };
  }
}

/** Reasons for which a pass removes all stale content, regardless of the cost of rewriting the prompt cache. */
const REASONS_IGNORING_CACHE: ReadonlySet<LandingReason> = new Set([
  'threshold',
  'cache-cold',
  'price-step',
]);

/** Returns the configuration that a pass had. `config` weighs rewrite costs; the passes with `REASONS_IGNORING_CACHE` ignore them. */
function configOfPass(config: DensityConfig, reason: LandingReason): DensityConfig {
  const { workingSet } = config;
  if (workingSet === undefined || !REASONS_IGNORING_CACHE.has(reason)) return config;
  return { ...config, workingSet: { ...workingSet, paybackCalls: Infinity } };
}

/** Returns the server's message if a summarizer failed, else `null`. The message is in the cause of the `SummarizerError`. */
function wordsOfServer({ cause }: Error): string | null {
  const isOfSummarizer = cause instanceof SummarizerError && cause.cause instanceof Error;
  return isOfSummarizer ? (cause.cause as Error).message : null;
}
