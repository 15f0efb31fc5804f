// One session, as its user sees it: the calls into it, and the one place that tells what became of them. What happens to
// a history before each send stands in preflight/; nobody else applies edits.

import type { IContent } from '../shared/content.js';
import type { DensityConfig } from '../shared/density.js';
import type { EntryExplanation } from '../shared/density/explain/explanation.js';
import { asObject, assertString, isInstance, isObject, assertTokens } from '../shared/misuse.js';
import { abortable, settledWithin } from './waiting/abortable.js';
import { HistoryService } from './history-service.js';
import type { FallbackEvent, OffloadStats } from './offload/offload.js';
import { assertCacheReport } from './preflight/cache-misses.js';
import { CatalogCheck } from './preflight/catalog-check.js';
import type { ContextUsage, UsageReport, UsageReportOutcome } from './preflight/context-gauge.js';
import type { CostReport } from './preflight/cost-meter.js';
import { RemovedReads } from './preflight/removed-reads.js';
import type {
  CompressedEvent,
  FittedEvent,
  PrunedEvent,
  OddUsage,
  SessionEvents,
  PreflightResult,
} from './preflight/session-events.js';
import type {
  AbortOptions,
  RequestOptions,
  SessionParts,
  SessionInit,
} from './preflight/session-parts.js';
import {
  readAbortOptions,
  readCall,
  createParts,
  currentDensityConfig,
  explainEntry,
} from './preflight/session-parts.js';
import { SafeEmitter } from './safe-emitter.js';
import { sealState } from './state/session-state.js';
import type { SessionState } from './state/session-state.js';
import type { SessionMemory } from './state/session-memory.js';
import { goOnFrom, takeUp } from './state/take-up.js';
import type { StateReport, TakeUpOptions } from './state/take-up.js';
import { findOriginal, keepOriginals } from './state/originals.js';
import { TokenCalibration } from './tokens/token-calibration.js';
import type { Settings } from './settings/settings.js';
import type { CompressionContext } from './strategies/strategy.js';
import { SessionTelemetry } from './telemetry/session-telemetry.js';
import type { RestoredResponse } from './removal-log/restore.js';
import { Preflight } from './preflight/preflight.js';
import type { StepReport, Steps } from './preflight/preflight.js';
import { keepsNoRemovalLog } from './removal-log/removal-log-errors.js';
import type { PreflightDetails } from './telemetry/session-telemetry.js';

/** So often in a row others may be faster; then what stands is sent. */
const MAX_OVERTAKEN = 5;

/** How long `close` waits for the preflight that is under way. */
const CLOSE_TIMEOUT_MS = 5_000;

/** One session: its history, and the preflight before each send in which that is made dense. */
export class Session extends SafeEmitter<SessionEvents> {
  readonly sessionId: string;
  readonly history: HistoryService;
  /** The settings of this session alone; they may be changed at any time. */
  readonly settings: Settings;
  #parts: SessionParts;
  #preflight: Preflight;
  readonly #removed: RemovedReads;
  readonly #telemetry: SessionTelemetry;
  readonly #catalogCheck: CatalogCheck | undefined;
  #closing: Promise<void> | undefined;
  /** Calls of which the answer has gone since the state was kept last. */
  #gone = new Set<string>();
  /** Settles when the preflight that is under way has ended. Those of one session never overlap. */
  #underWay: Promise<unknown> = Promise.resolve();

  /** @throws TypeError or RangeError for options that say how edits land, or an overhead, and are none. */
  constructor(options: SessionInit) {
    if (!(isObject(options) && isInstance(options.history, HistoryService)))
      throw new TypeError('Expected the parts of a session; make one with `createSession`.');
    super(options.logger);
    this.sessionId = options.sessionId;
    this.history = options.history;
    this.settings = options.settings;
    this.#parts = createParts(options);
    this.#preflight = new Preflight(this.#parts);
    this.#removed = new RemovedReads(options.densityOptions);
    this.#telemetry = new SessionTelemetry(options);
    const { ownCatalog, logger } = options;
    this.#catalogCheck = ownCatalog && new CatalogCheck(ownCatalog, logger);
  }

  /** Whether content was added (not by compaction) that no density pass has seen, or in which one found edits that are held. */
  get densityDirty(): boolean {
    return this.#preflight.isDirty;
  }

  /** What a density pass goes by now: the settings, and what is known of the agent. */
  get densityConfig(): DensityConfig {
    return currentDensityConfig(this.#parts);
  }

  /** Tokens that the model is taken to accept: as given, or by the name of the model that the session talks to. */
  get contextLimit(): number {
    return this.#parts.gauge.contextLimit;
  }

  /**
   * Makes the history ready to be sent: settles its tokens, prunes, compresses when it is over the threshold, and has it
   * fit. A second call waits for the first. Each edit lands whole or not at all; aborting between two keeps the first.
   *
   * @param promptId names the turn, for logs and monitoring, as `source` names who asks
   * @param pendingTokens the model's tokens that the request will hold besides history and overhead
   * @throws the signal's reason; what a strategy threw; `ContextWindowExceededError`; `REMOVAL_LOG_WRITE_FAILED`
   * when the history does not fit without an edit that cannot be recorded.
   */
  ensureCompressionBeforeSend(
    promptId: string,
    pendingTokens: number = 0,
    source: string = 'send',
    given: RequestOptions = {},
  ): Promise<PreflightResult> {
    const options = readCall(promptId, given, pendingTokens);
    assertString('source', source);
    const details = { promptId, source, pendingTokens, ...options };
    const ended = this.#underWay.then(() => this.#prepare(details));
    this.#underWay = ended.catch(() => undefined);
    return abortable(ended, options.signal);
  }

  /**
   * Takes what the provider reported for the request that the last preflight made ready. From then on all sessions of
   * the compactor that talk to this model judge by its own tokens. To be called before the response is added.
   *
   * @returns `learned`, or why nothing was
   * @throws TypeError or RangeError for what is no number of tokens, or reads more from a cache than there was to read.
   */
  reportUsage(report: UsageReport): UsageReportOutcome {
    asObject(report, 'the report of usage', 'an object');
    assertCacheReport(report);
    const outcome = this.#parts.gauge.report(report);
    this.#parts.logger.debug('usage reported', { inputTokens: report.inputTokens, outcome });
    this.#judgeCacheRead(report);
    return outcome;
  }

  /**
   * The same, only for what it says of the cache: where nobody knows what requests hold besides the history, their tokens
   * say nothing about it.
   *
   * @throws TypeError or RangeError as `reportUsage` does.
   */
  reportCacheRead(report: UsageReport): void {
    asObject(report, 'the report of usage', 'an object');
    assertCacheReport(report);
    if (report.modelName !== undefined) assertString('modelName', report.modelName);
    this.#judgeCacheRead(report);
  }

  /** How full the model's window is, and where that number comes from. */
  contextUsage(): ContextUsage {
    return this.#parts.gauge.usage;
  }

  /** What the requests of this session come to in tokens, with its edits and without. */
  costs(): CostReport {
    const { costs, ahead } = this.#preflight;
    const { landed, thrownAway } = ahead.counts;
    return landed + thrownAway === 0 ? costs.report : { ...costs.report, summaries: ahead.counts };
  }

  /**
   * What this session has decided and learned, as plain JSON: with the entries that were added to it, `createSession` goes on
   * from there in any process.
   */
  snapshot(): SessionState {
    const { history, calibration } = this.#parts;
    const { journal, modelName } = history;
    const learned = calibration?.learnedOf(modelName);
    return sealState({
      digests: journal.digest.digests,
      journal: journal.packed,
      tokens: history.getRawHistory().map((entry) => history.countedTokens(entry)),
      at: Date.now(),
      memory: this.#preflight.memory,
      model: learned === undefined ? null : { name: modelName ?? null, ...learned },
    });
  }

  /** Has the history be other entries, from the longest beginning on that is the same: `stateDiverged` tells where they part. */
  async goOnWith(entries: readonly IContent[]): Promise<void> {
    const about = { state: this.snapshot(), given: entries, ...this.#known };
    this.history.clear();
    const { memory, taken, report } = await takeUp(this.history, about);
    if (memory !== undefined) this.#goOn(memory);
    this.history.addAll(entries.slice(taken));
    if (report !== undefined) this.reportState(report);
  }

  /** Tells that a state was of little use, or of none. */
  reportState(report: StateReport): void {
    if ('error' in report) this.notify('stateRefused', report);
    else this.notify('stateDiverged', report);
  }

  /** Tells that a provider has reported usage that cannot be, which was left out. */
  reportOddUsage(event: OddUsage): void {
    this.notify('oddUsage', event);
  }

  /**
   * The first step alone: prunes a dirty history as far as `edits` and `reasoning` let edits land now. Returns what
   * changed, or `null`. Not to be called while another step is under way.
   */
  async ensureDensityOptimized(given: AbortOptions = {}): Promise<PrunedEvent | null> {
    return this.#tellEach(this.#preflight.prune(0, readAbortOptions(given)));
  }

  /** Whether history, overhead and pending tokens together reach the threshold. */
  shouldCompress(pendingTokens: number = 0): boolean {
    assertTokens('pendingTokens', pendingTokens);
    return this.#parts.gauge.shouldCompress(pendingTokens);
  }

  /**
   * The second step alone: compresses the history by the strategy, and puts the result in place when it is smaller.
   * Entries added meanwhile wait and follow. Not to be called while another step is under way.
   *
   * @throws what the strategy threw; `CLOSED` when the session is. The history is as before.
   */
  async performCompression(promptId: string, given: AbortOptions = {}): Promise<CompressedEvent> {
    return this.#tellEach(this.#preflight.compress(promptId, readCall(promptId, given)));
  }

  /**
   * Has history and pending tokens fit the context window: prunes, compresses, summarizes the largest tool results
   * and drops the oldest turns. What compressing throws is told by `compressionFailed` and does not end this.
   *
   * @throws ContextWindowExceededError that says which part cannot fit.
   */
  async enforceContextWindow(
    promptId: string,
    pendingTokens: number = 0,
    given: AbortOptions = {},
  ): Promise<FittedEvent | null> {
    const options = readCall(promptId, given, pendingTokens);
    return this.#tellEach(this.#preflight.enforceLimit(promptId, pendingTokens, options));
  }

  /** What a strategy is given to compress the history as it stands. */
  buildCompressionContext(promptId: string, given: AbortOptions = {}): CompressionContext {
    return this.#preflight.contextOf(promptId, readCall(promptId, given));
  }

  /**
   * Tells what a density pass would do with an entry of the history as it stands, by which rule and facts; what of it
   * would land is up to the session's `edits`. For debugging: walks the whole history, on the calling thread.
   *
   * @throws RangeError when the history has no entry at this index.
   */
  explain(index: number): EntryExplanation {
    return explainEntry(this.#parts, index);
  }

  /** Tells of work that ran on the calling thread because workers failed. */
  reportFallback(event: FallbackEvent): void {
    this.notify('fallback', event);
  }

  /**
   * Returns what a tool answered before an edit took it away: from the store that keeps the state of a named conversation, or from the
   * removal log.
   *
   * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` when neither holds it.
   */
  async restore(callId: string): Promise<RestoredResponse> {
    assertString('callId', callId);
    const { removalLog, keeper } = this.#parts;
    const { added = [] } = this.history.journal;
    const original = await findOriginal(callId, this.sessionId, added, keeper);
    if (original !== undefined) return original;
    if (removalLog === undefined) throw keepsNoRemovalLog(callId);
    return removalLog.restore(callId, { sessionId: this.sessionId });
  }

  /**
   * Closes the session's removal log, when the preflight that is under way has ended or five seconds have
   * passed. Nothing is taken in or compressed from the call on; what there is can be read. Final; may be called again.
   */
  close(): Promise<void> {
    this.history.close();
    this.#preflight.ahead.close();
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** What was offloaded so far, and where it ran. */
  stats(): OffloadStats {
    return this.#parts.offload.stats;
  }

  #judgeCacheRead(report: UsageReport): void {
    const missed = this.#parts.cacheMisses.report(report);
    if (missed === null) return;
    this.#telemetry.noteCacheMiss(missed);
    this.notify('cacheMissed', missed);
  }

  #prepare(details: PreflightDetails): Promise<PreflightResult> {
    const { promptId, pendingTokens, source, signal } = details;
    signal?.throwIfAborted();
    this.history.assertOpen();
    this.#catalogCheck?.look(this.history.getRawHistory());
    this.#parts.logger.debug('a preflight begins', { promptId, source, pendingTokens });
    return this.#telemetry.watchPreflight(details, this.#runAndKeep(details));
  }

  /** Runs a preflight; again on what another process has made of the conversation, when that was faster. */
  async #runAndKeep(details: PreflightDetails & RequestOptions): Promise<PreflightResult> {
    const { promptId, pendingTokens } = details;
    for (let overtaken = 0; ; overtaken += 1) {
      const steps = this.#preflight.run(promptId, pendingTokens, details);
      const result = await this.#tellEach(steps);
      const isLast = overtaken === MAX_OVERTAKEN;
      if (!(await this.#keep()) || isLast) return result;
      this.#parts.logger.debug('another process was faster', { promptId });
    }
  }

  /** Keeps the state; returns whether the history goes on from that of somebody who was faster. */
  async #keep(): Promise<boolean> {
    const { keeper } = this.#parts;
    const { history } = this;
    if (keeper === undefined) return false;
    const outcome = await keeper.save(this.snapshot(), history.journal.digest.names);
    if (typeof outcome === 'string') {
      if (outcome === 'kept') keepOriginals(keeper, history.journal.added ?? [], this.#gone);
      this.#gone.clear();
      return false;
    }
    this.#gone.clear();
    const about = { state: outcome.overtakenBy, ...this.#known };
    const hasGoneOn = await goOnFrom(history, about, (former) => {
      this.#goOn(former);
    });
    // Of another history: this one is saved on top of it.
    if (!hasGoneOn) await keeper.save(this.snapshot(), history.journal.digest.names);
    return hasGoneOn;
  }

  get #known(): Pick<TakeUpOptions, 'toolCatalog' | 'calibration'> {
    const { calibration = new TokenCalibration(), densityOptions } = this.#parts;
    return { calibration, toolCatalog: densityOptions.toolCatalog };
  }

  #goOn(former: SessionMemory): void {
    this.#parts = createParts({ ...this.#parts, ...this.#parts.edits, isTakenUp: false, former });
    this.#preflight = new Preflight(this.#parts);
  }

  async #tellEach<Result>(steps: Steps<Result>): Promise<Result> {
    this.history.assertOpen();
    for (;;) {
      const { done, value } = await steps.next();
      if (done === true) return value;
      this.#tell(value);
    }
  }

  /** The one place that tells of a step: first monitoring, then the guard, then whoever listens. */
  #tell(report: StepReport): void {
    if (report.step === 'none') {
      this.notify('compressionFailed', { error: report.compressionFailure });
      return;
    }
    const { step, event, recordingFailure: error } = report;
    if (error) this.notify('recordingFailed', { error });
    this.#telemetry.noteStep(report);
    this.#parts.guard.noteStep(report);
    if (!event) return;
    if (step === 'pruned') this.notify(step, event);
    else if (step === 'compressed') this.notify(step, event);
    else this.notify(step, event);
    const isHeard = this.listenerCount('removed') > 0;
    if (!isHeard && this.#parts.keeper === undefined) return;
    const removed = this.#removed.ofStep(report, this.history.getRawHistory());
    if (!removed) return;
    for (const callId of removed.callIds) this.#gone.add(callId);
    if (isHeard) this.notify('removed', { step, ...removed });
  }

  async #shutDown(): Promise<void> {
    const { removalLog, keeper, onClose } = this.#parts;
    // Not forever: a strategy of the user's own may never come back.
    await settledWithin(CLOSE_TIMEOUT_MS, this.#underWay);
    await keeper?.settled();
    await removalLog?.close();
    await onClose?.();
  }
}
