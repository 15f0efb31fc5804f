// The pre-send window of one session: what happens to its history, in which order, before each model
// call. Its steps stand in pre-send/; nobody else applies edits.

import type { IContent } from '../shared/content.js';
import { explainDensity } from '../shared/density/explain/explain-density.js';
import type { EntryExplanation } from '../shared/density/explain/explanation.js';
import { CtxfoldError } from '../shared/errors.js';
import { asObject, assertString, isInstance, isRecord } from '../shared/misuse.js';
import { abortable, settledWithin } from './abortable.js';
import { HistoryService } from './history-service.js';
import type { FallbackEvent, OffloadStats } from './offload/offload.js';
import { AutomaticCompression } from './pre-send/automatic-compression.js';
import { compressionContext } from './pre-send/compression-context.js';
import type { CompressionInputs } from './pre-send/compression-context.js';
import { runCompressionStep } from './pre-send/compression-step.js';
import { ContextGauge } from './pre-send/context-gauge.js';
import type { ContextUsage, UsageReport, UsageReportOutcome } from './pre-send/context-gauge.js';
import { CostMeter } from './pre-send/cost-meter.js';
import type { CostReport } from './pre-send/cost-meter.js';
import { DensityPruner } from './pre-send/density-pruner.js';
import { arePriced, completeEditOptions } from './pre-send/edit-options.js';
import { recordEdits } from './pre-send/edit-recording.js';
import type { PreSendResult } from './pre-send/pre-send-result.js';
import { ProgressGuard } from './pre-send/progress-guard.js';
import { RemovedReads } from './pre-send/removed-reads.js';
import type { RemovedContent } from './pre-send/removed-reads.js';
import type { FormerWindows } from './pre-send/replay-edits.js';
import type {
  CompressedEvent,
  FittedEvent,
  PrunedEvent,
  RemovedEvent,
  SessionEvents,
} from './pre-send/session-events.js';
import { SentHistory } from './pre-send/sent-history.js';
import { currentDensityConfig, currentStrategy } from './pre-send/session-parts.js';
import type { AbortOptions, SessionParts } from './pre-send/session-parts.js';
import { readAbortOptions, readCall } from './pre-send/read-call.js';
import { assertTokens } from './pre-send/token-budget.js';
import { fitHistory } from './pre-send/window-step.js';
import { SafeEmitter } from './safe-emitter.js';
import type { Settings } from './settings/settings.js';
import type { CompressionContext, CompressionStrategy } from './strategies/strategy.js';
import { SessionTelemetry } from './telemetry/session-telemetry.js';
import type { RestoredResponse } from './removal-log/restore.js';
import type { RemovalLog } from './removal-log/removal-log.js';
import type { SessionInit } from './session-init.js';

/** Share of the context window by which a history must grow before a compression that did not help is tried again. */
const MIN_GROWTH_SHARE = 0.05;

/** How long `close` waits for the window that is open. */
const CLOSE_TIMEOUT_MS = 5_000;

/** One session: its history, and the window before each send in which that is made dense. */
export class Session extends SafeEmitter<SessionEvents> {
  readonly sessionId: string;
  readonly history: HistoryService;
  /** The settings of this session alone; they may be changed at any time. */
  readonly settings: Settings;
  readonly #parts: SessionParts;
  readonly #compressionInputs: () => CompressionInputs;
  readonly #gauge: ContextGauge;
  readonly #guard: ProgressGuard;
  readonly #density: DensityPruner;
  readonly #compression: AutomaticCompression;
  readonly #sent: SentHistory;
  readonly #costs: CostMeter;
  readonly #removed: RemovedReads;
  readonly #telemetry: SessionTelemetry;
  readonly #removalLog: RemovalLog | undefined;
  readonly #onClose: (windows: FormerWindows) => void;
  #closing: Promise<void> | undefined;
  /** Ends when the window that is open now has closed. Windows of one session never overlap. */
  #openWindow: Promise<unknown> = Promise.resolve();

  /** @throws TypeError or RangeError for options that say how edits land, or an overhead, and are none. */
  constructor(options: SessionInit) {
    if (!(isRecord(options) && isInstance(options.history, HistoryService)))
      throw new TypeError('Expected the parts of a session; make one with `createSession`.');
    super(options.logger);
    this.sessionId = options.sessionId;
    this.history = options.history;
    this.settings = options.settings;
    const { removalLog, history, takenUp, now = () => performance.now() } = options;
    const isTakenUp = takenUp !== undefined;
    const edits = completeEditOptions(options);
    this.#sent = new SentHistory({ history, cacheTtlMs: edits.cacheTtlMs, now, isTakenUp });
    this.#costs = new CostMeter({ history, sent: this.#sent });
    this.#parts = {
      ...options,
      arePriced: arePriced(edits),
      recordChanges: recordEdits(options, (error) => {
        this.notify('recordingFailed', { error });
      }),
      noteRewrite: (rewrite) => {
        this.#sent.noteRewrite(rewrite);
      },
    };
    this.#removed = new RemovedReads(options.densityOptions);
    this.#telemetry = new SessionTelemetry(options);
    this.#removalLog = removalLog;
    this.#onClose = options.onClose ?? (() => undefined);
    this.#compressionInputs = options.compressionInputs ?? (() => ({}));
    const contextLimit = (): number => options.runtimeContext.ephemerals.contextLimit();
    this.#gauge = new ContextGauge({ ...options, contextLimit });
    const minGrowthTokens = (): number => MIN_GROWTH_SHARE * contextLimit();
    this.#guard = new ProgressGuard({ minGrowthTokens, now });
    this.#density = new DensityPruner({
      parts: this.#parts,
      edits,
      sent: this.#sent,
      takenUp,
      telemetry: this.#telemetry,
      tell: (event): void => {
        this.#guard.noteShrunk(event.tokensAfter);
        this.notify('pruned', event);
        this.#tellRemoved('pruned', (now) => this.#removed.ofChanges(event.changes, now));
      },
    });
    this.#compression = new AutomaticCompression({
      parts: this.#parts,
      guard: this.#guard,
      fits: (pendingTokens) => this.#gauge.fits(pendingTokens),
      isDue: (pendingTokens) => this.shouldCompress(pendingTokens),
      compress: (promptId, given) => this.#compress(promptId, given),
      tellHeld: (event) => {
        this.#telemetry.noteHeld(event);
        this.notify('compressed', event);
      },
      tellFailure: (error) => {
        this.notify('compressionFailed', { error });
      },
    });
  }

  /**
   * Whether content was added that no density pass has seen, or one found edits in it that are held.
   * What compaction itself does is no content.
   */
  get densityDirty(): boolean {
    return this.#density.isDirty;
  }

  /**
   * Makes the history ready to be sent: settles its tokens, prunes, compresses when it is over the
   * threshold, and sees to it that it fits. A second call waits for the first. Each edit lands whole
   * or not at all; a signal that aborts between two of them keeps the first.
   *
   * @param promptId names the turn, for logs
   * @param pendingTokens the model's tokens that the request will hold besides history and overhead
   * @param source who asks, for logs
   * @throws the signal's reason; what a strategy threw; `ContextWindowExceededError`; `REMOVAL_LOG_WRITE_FAILED`
   * when the history does not fit without an edit that cannot be recorded.
   */
  ensureCompressionBeforeSend(
    promptId: string,
    pendingTokens: number = 0,
    source: string = 'send',
    given: AbortOptions = {},
  ): Promise<PreSendResult> {
    const options = readCall(promptId, given, pendingTokens);
    assertString('source', source);
    const window = this.#openWindow.then(() => {
      options.signal?.throwIfAborted();
      this.history.assertOpen();
      this.#parts.logger.debug('pre-send window opens', { promptId, source, pendingTokens });
      return this.#telemetry.watchWindow({ promptId, source, pendingTokens, ...options }, () =>
        this.#runWindow(promptId, pendingTokens, options),
      );
    });
    this.#openWindow = window.catch(() => undefined);
    return abortable(window, options.signal);
  }

  async #runWindow(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Promise<PreSendResult> {
    this.#gauge.windowOpens();
    await abortable(this.history.waitForTokenUpdates(), options.signal);
    const pruned = await this.#prune(pendingTokens, options);
    options.signal?.throwIfAborted();
    const compressed = await this.#compression.runWhenDue(promptId, pendingTokens, options);
    // Also after a compression that began under the limit: what was added meanwhile may be too much.
    const fitted = await this.#fit(pendingTokens, options);
    this.#gauge.windowCloses(pendingTokens);
    this.#costs.windowCloses();
    this.#sent.windowCloses();
    const totalTokens = this.history.getTotalTokens();
    return { pruned, compressed, fitted, totalTokens, tokenSource: this.#gauge.countSource };
  }

  /**
   * Takes what the provider reported for the request that the last pre-send window made ready. From
   * then on the session, and all of its compactor that talk to the same model, judge by the model's
   * own tokens. To be called before the response is added, for `contextUsage` to be `reported`.
   *
   * @returns `learned`, or why nothing was
   * @throws TypeError or RangeError for what is no number of tokens.
   */
  reportUsage(report: UsageReport): UsageReportOutcome {
    asObject(report, 'the report of usage', 'an object');
    const outcome = this.#gauge.report(report);
    this.#parts.logger.debug('usage reported', { inputTokens: report.inputTokens, outcome });
    return outcome;
  }

  /** How full the model's window is, and where that number comes from. */
  contextUsage(): ContextUsage {
    return this.#gauge.usage;
  }

  /** What the requests of this session come to in tokens, with its edits and without. */
  costs(): CostReport {
    return this.#costs.report;
  }

  /**
   * Prunes the history when it is dirty, and the strategy prunes at all, as far as the session's `edits`
   * and `reasoning` let edits land now. To be called in the pre-send window only.
   *
   * @returns what changed, or `null`
   */
  async ensureDensityOptimized(given: AbortOptions = {}): Promise<PrunedEvent | null> {
    const options = readAbortOptions(given);
    this.history.assertOpen();
    return this.#prune(0, options);
  }

  /** Whether history, overhead and pending tokens together reach the threshold. */
  shouldCompress(pendingTokens: number = 0): boolean {
    assertTokens('pendingTokens', pendingTokens);
    return this.history.getTotalTokens() >= this.#thresholdTokens(pendingTokens);
  }

  /**
   * Compresses the history by the strategy, and puts the result in place when it is smaller. Entries
   * added meanwhile wait and follow. To be called in the pre-send window only.
   *
   * @throws what the strategy threw; `CLOSED` when the session is. The history is as before.
   */
  async performCompression(promptId: string, given: AbortOptions = {}): Promise<CompressedEvent> {
    const options = readCall(promptId, given);
    this.history.assertOpen();
    return this.#compress(promptId, options);
  }

  #compress(promptId: string, options: AbortOptions): Promise<CompressedEvent> {
    const strategy = currentStrategy(this.#parts);
    const step = { step: 'compressed', strategy: strategy.name, ...options } as const;
    const former = this.history.getRawHistory();
    const tell = (event: CompressedEvent): void => {
      this.notify('compressed', event);
      if (event.outcome !== 'applied') return;
      this.#tellRemoved('compressed', (now) => this.#removed.ofRewrite(former, now));
    };
    return this.#telemetry.watchStep(step, tell, (told) =>
      runCompressionStep(
        this.#parts,
        strategy,
        (by) => this.#contextOf(by, promptId, options),
        told,
        options.signal,
      ),
    );
  }

  /**
   * Sees to it that history and pending tokens fit the context window: prunes, then compresses, then
   * summarizes the largest tool results and drops the oldest turns. What compressing throws is
   * told by the `compressionFailed` event and does not end this.
   *
   * @throws ContextWindowExceededError that says which part cannot fit.
   */
  async enforceContextWindow(
    promptId: string,
    pendingTokens: number = 0,
    given: AbortOptions = {},
  ): Promise<FittedEvent | null> {
    const options = readCall(promptId, given, pendingTokens);
    this.history.assertOpen();
    await abortable(this.history.waitForTokenUpdates(), options.signal);
    if (this.#gauge.fits(pendingTokens)) return null;
    await this.#prune(pendingTokens, options);
    options.signal?.throwIfAborted();
    if (!this.#gauge.fits(pendingTokens)) {
      await this.#compression.runOverLimit(promptId, pendingTokens, options);
    }
    return this.#fit(pendingTokens, options);
  }

  /** What a strategy is given to compress the history as it stands. */
  buildCompressionContext(promptId: string, given: AbortOptions = {}): CompressionContext {
    const options = readCall(promptId, given);
    return this.#contextOf(currentStrategy(this.#parts), promptId, options);
  }

  /**
   * Tells what a density pass by the present settings would do with an entry of the history as it stands, by which rule
   * and facts; what of it would land is up to the session's `edits`. For debugging: walks the whole history, on the
   * calling thread.
   *
   * @throws RangeError when the history has no entry at this index.
   */
  explain(index: number): EntryExplanation {
    const config = currentDensityConfig(this.#parts);
    return explainDensity(this.history.getRawHistory(), config).explain(index);
  }

  /** Reports work that ran on the calling thread because workers failed. */
  reportFallback(event: FallbackEvent): void {
    this.notify('fallback', event);
  }

  /**
   * Returns what a tool answered before an edit took it away.
   *
   * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` when no removal log of the session holds it.
   */
  async restore(callId: string): Promise<RestoredResponse> {
    assertString('callId', callId);
    if (this.#removalLog !== undefined) {
      return this.#removalLog.restore(callId, { sessionId: this.sessionId });
    }
    throw new CtxfoldError(
      `The session keeps no removal log to restore call ${JSON.stringify(callId)} from; create it with removalLogDirectory or removalLogPath.`,
      'NOT_IN_REMOVAL_LOG',
    );
  }

  /**
   * Closes the session's removal log, when the window that is open has closed or five seconds have
   * passed. Nothing is taken in or compressed from the call on; what there is can be read. Final; may be called again.
   */
  close(): Promise<void> {
    this.history.close();
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** What was offloaded so far, and where it ran. */
  stats(): OffloadStats {
    return this.#parts.offload.stats;
  }

  #prune(pendingTokens: number, options: AbortOptions): Promise<PrunedEvent | null> {
    // What does not fit is over the threshold as well, which is a share of the window.
    const fits = (): boolean => this.#gauge.fits(pendingTokens);
    return this.#density.pruneWhenDirty(() => this.#thresholdTokens(pendingTokens), fits, options);
  }

  async #fit(pendingTokens: number, options: AbortOptions): Promise<FittedEvent | null> {
    options.signal?.throwIfAborted();
    if (this.#gauge.fits(pendingTokens)) return null;
    const tell = (event: FittedEvent): void => {
      this.#guard.noteCut(event.tokensBefore, event.tokensAfter);
      this.notify('fitted', event);
      this.#tellRemoved('fitted', (now) => this.#removed.ofChanges(event.changes, now));
    };
    const demand = { budget: this.#gauge.budget, pendingTokens };
    return this.#telemetry.watchStep({ step: 'fitted', ...options }, tell, (told) =>
      fitHistory(this.#parts, demand, told, options.signal),
    );
  }

  #tellRemoved(
    step: RemovedEvent['step'],
    find: (entries: readonly IContent[]) => RemovedContent | null,
  ): void {
    if (this.listenerCount('removed') === 0) return;
    const pruned = find(this.history.getRawHistory());
    if (pruned !== null) this.notify('removed', { step, ...pruned });
  }

  #contextOf(
    { requiresLLM }: CompressionStrategy,
    promptId: string,
    options: AbortOptions,
  ): CompressionContext {
    const { windowTokens } = this.#gauge.budget;
    const forModel = requiresLLM ? this.#compressionInputs : undefined;
    return compressionContext(this.#parts, { windowTokens, forModel }, promptId, options);
  }

  async #shutDown(): Promise<void> {
    // Not forever: a strategy of the user's own may never come back.
    await settledWithin(CLOSE_TIMEOUT_MS, this.#openWindow);
    await this.#removalLog?.close();
    this.#onClose(this.#density.windows);
  }

  #thresholdTokens(pendingTokens: number): number {
    const threshold = this.#parts.runtimeContext.ephemerals.compressionThreshold();
    return this.#gauge.budget.thresholdTokens(threshold, pendingTokens);
  }
}
