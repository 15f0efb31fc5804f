// One session as its user sees it: the public calls, and the one place that reports the steps of `preflight/`.

import type { IContent } from '../shared/content.js';
import type { DensityConfig } from '../shared/density.js';
import { explainDensity } from '../shared/density/explain/explain-density.js';
import type { EntryExplanation } from '../shared/density/explain/explanation.js';
import { assertString, copyOfArray, isInstance, isObject, assertTokens } from '../shared/misuse.js';
import { HistoryService, sessionClosed } from './history-service.js';
import { SafeEmitter } from './host/safe-emitter.js';
import type { FallbackEvent, OffloadStats } from './offload/offload.js';
import { catalogCheck } from './preflight/catalog-check.js';
import type { ContextUsage, UsageReport, UsageReportOutcome } from './preflight/context-gauge.js';
import type { CostReport } from './preflight/cost-meter.js';
import { compressionContext } from './preflight/make-compression.js';
import { Preflight } from './preflight/preflight.js';
import { readAbortOptions, readCall } from './preflight/request-options.js';
import type {
  AbortOptions,
  PreflightRequest,
  RequestOptions,
} from './preflight/request-options.js';
import { checkedReport } from './preflight/prompt-cache.js';
import { RemovedReads } from './preflight/removed-reads.js';
import { SESSION_EVENTS } from './preflight/session-events.js';
import type {
  Steps,
  StepReport,
  CompressedEvent,
  FittedEvent,
  PrunedEvent,
  OddUsage,
  SessionEvents,
  PreflightResult,
} from './preflight/session-events.js';
import { createParts } from './preflight/session-parts.js';
import type { SessionParts, SessionInit } from './preflight/session-parts.js';
import { keepsNoRemovalLog } from './removal-log/removal-log-errors.js';
import type { RestoredResponse } from './removal-log/restore.js';
import type { Settings } from './settings/settings.js';
import { findOriginal } from './state/find-original.js';
import type { StateReport } from './state/resume.js';
import { sealState } from './state/session-state.js';
import { presentEntriesOf } from './state/present-entries.js';
import type { SessionState } from './state/session-state.js';
import { SharedHistory } from './state/shared-history.js';
import type { CompressionContext } from './strategies/strategy.js';
import { publishCacheMiss, publishStep, watchPreflight } from './telemetry/channels.js';
import { abortable, settledWithin } from './waiting/abortable.js';
import { nextTurn } from './waiting/event-loop-turn.js';

/** How long `close` waits for a running preflight. */
const CLOSE_TIMEOUT_MS = 5_000;

/** One session: its history, and the preflight that compacts it before each send. */
export class Session extends SafeEmitter<SessionEvents> {
  readonly sessionId: string;
  readonly history: HistoryService;
  /** The settings of this session; may be changed at any time. */
  readonly settings: Settings;
  #parts: SessionParts;
  #preflight: Preflight;
  readonly #shared: SharedHistory;
  readonly #removed: RemovedReads;
  readonly #checkCatalog: ReturnType<typeof catalogCheck> | undefined;
  #closing: Promise<void> | undefined;
  /** Resolves when the running and all waiting preflights have ended. Preflights of a session never overlap. */
  #underWay: Promise<unknown> = Promise.resolve();
  #queued = 0;

  /** @throws TypeError for anything but the parts that `createSession` makes. */
  constructor(options: SessionInit) {
    if (!(isObject(options) && isInstance(options.history, HistoryService)))
      throw new TypeError('Expected the parts of a session; make one with `createSession`.');
    super(options.logger, SESSION_EVENTS);
    this.sessionId = options.sessionId;
    this.history = options.history;
    this.settings = options.config.settings;
    this.#parts = createParts(options);
    this.#preflight = new Preflight(this.#parts);
    this.history.watch(({ kind }) => {
      if (kind === 'clear') this.#preflight.noteClear();
    });
    const { config } = this.#parts;
    this.#shared = new SharedHistory({
      ...this.#parts,
      toolCatalog: config.densityOptions.toolCatalog,
      snapshot: () => this.snapshot(),
      adopt: (replace) => {
        this.#preflight.ahead.pause();
        const former = replace();
        this.#parts = createParts({ ...this.#parts, wasSentBefore: false, former });
        this.#preflight = new Preflight(this.#parts, this.#preflight);
      },
    });
    this.#removed = new RemovedReads(config.densityOptions);
    this.#checkCatalog = options.ownCatalog && catalogCheck(options.ownCatalog, options.logger);
  }

  /** Whether entries were added (not by compaction) that no density pass has seen, or a pass found edits that are still held. */
  get densityDirty(): boolean {
    return this.#preflight.isDirty;
  }

  /** The configuration of the next density pass, from settings and agent. */
  get densityConfig(): DensityConfig {
    return this.#parts.config.density();
  }

  /** Tokens that the model accepts: as configured, or by the session's model name. */
  get contextLimit(): number {
    return this.#parts.gauge.contextLimit;
  }

  /**
   * Prepares the history for sending: waits for token counts, prunes, compresses if over the threshold, and makes it fit the window.
   * Concurrent calls run one after the other. Each edit is atomic; an abort between two edits keeps the first.
   *
   * @param promptId names the turn in logs and telemetry; `source` names the caller
   * @param pendingTokens what the request holds besides history and overhead, in the model's own tokens
   * @throws the signal's reason; what a strategy threw; `ContextWindowExceededError`; CtxfoldError `CLOSED`,
   *   `TOKEN_COUNT_FAILED`, or `REMOVAL_LOG_WRITE_FAILED` if the history does not fit without an edit that cannot be recorded.
   */
  ensureCompressionBeforeSend(
    promptId: string,
    pendingTokens: number = 0,
    source: string = 'send',
    given: RequestOptions = {},
  ): Promise<PreflightResult> {
    const request = readCall(promptId, given, pendingTokens);
    assertString('source', source);
    const { signal } = request;
    const ended = this.#next(() => {
      signal?.throwIfAborted();
      this.history.assertOpen();
      this.#checkCatalog?.(this.history.getRawHistory());
      this.#parts.logger.debug('a preflight begins', { promptId, source, pendingTokens });
      return watchPreflight(this, { ...request, source }, this.#runAndSave(request));
    });
    return abortable(ended, signal);
  }

  /**
   * Takes the usage that the provider reported for the request of the last preflight. All sessions of the compactor with this
   * model calibrate by it. Call it before the response is added. Without `overheadTokens`, the overhead is learned from what the
   * reports of several requests have in common, and the model's ratio from their difference.
   *
   * @returns `learned`, or why nothing was learned
   * @throws TypeError or RangeError for invalid token counts, or more cache reads than input.
   */
  reportUsage(report: UsageReport): UsageReportOutcome {
    const usage = checkedReport(report);
    const { gauge, cacheMisses, logger, keeper } = this.#parts;
    const outcome = gauge.report(usage);
    // Another process may serve the conversation by now.
    if (keeper && gauge.hasLearned) void this.#next(() => this.#shared.saveInBackground(true));
    logger.debug('usage reported', { inputTokens: usage.inputTokens, outcome });
    const missed = outcome === 'no-preflight' ? null : cacheMisses.report(usage);
    if (missed !== null) {
      publishCacheMiss(this, missed);
      this.notify('cacheMissed', missed);
    }
    return outcome;
  }

  /** Tokens of system text and tool schemas, in the model's own tokens, if the session's or compactor's options give them. */
  get overheadTokens(): number | undefined {
    return this.#parts.overheadTokens;
  }

  /** How full the model's window is, and where that number comes from. */
  contextUsage(): ContextUsage {
    return this.#parts.gauge.usage;
  }

  /** What this session's requests cost in tokens, with its edits and without. */
  costs(): CostReport {
    const { costs, ahead } = this.#preflight;
    const { landed, thrownAway } = ahead.counts;
    return landed + thrownAway === 0 ? costs.report : { ...costs.report, summaries: ahead.counts };
  }

  /** What this session has decided and learned: with it and the added entries, `createSession` continues in any process. */
  snapshot(): SessionState {
    const { history, calibration } = this.#parts;
    const { journal, modelName } = history;
    const { packedTokens, key: standing } = presentEntriesOf(history);
    return sealState({
      digests: journal.digest.digests,
      journal: journal.packed,
      packedTokens,
      standing,
      at: Date.now(),
      memory: this.#preflight.memory,
      model: { name: modelName ?? null, ...calibration.learnedOf(modelName) },
    });
  }

  /**
   * Replaces the history with other entries, keeping the state of their longest common prefix; `stateDiverged` reports where they
   * differ. Waits for a running preflight. Do not add entries until the promise resolves.
   *
   * @throws as `history.addAll` does; the history is unchanged then.
   */
  async goOnWith(entries: readonly IContent[]): Promise<void> {
    const given = copyOfArray('the entries', entries) as IContent[];
    return this.#next(async () => {
      const report = await this.#shared.startOver(given);
      if (report !== undefined) this.reportState(report);
    });
  }

  /** Emits that a state was refused, or differs from the history. */
  reportState(report: StateReport): void {
    if ('error' in report) this.notify('stateRefused', report);
    else this.notify('stateDiverged', report);
  }

  /** Emits that a provider reported impossible usage, which was ignored. */
  reportOddUsage(event: OddUsage): void {
    this.notify('oddUsage', event);
  }

  /**
   * Runs the first step only: prunes a dirty history, as far as `edits` and `reasoning` let edits land now. Returns what
   * changed, or `null`. Waits for a running preflight.
   */
  async ensureDensityOptimized(given: AbortOptions = {}): Promise<PrunedEvent | null> {
    const options = readAbortOptions(given);
    return this.#runAlone(options.signal, () => this.#preflight.prune(options));
  }

  /** Whether history, overhead and pending tokens together reach the threshold. */
  shouldCompress(pendingTokens: number = 0): boolean {
    assertTokens('pendingTokens', pendingTokens);
    return this.#parts.gauge.shouldCompress(pendingTokens);
  }

  /**
   * Runs the second step only: compresses the history with the current strategy, and applies the result if it is smaller.
   * Entries added meanwhile are appended to the result. Waits for a running preflight.
   *
   * @throws what the strategy threw; `COMPRESSION_IN_PROGRESS`; `CLOSED` after `close`. The history is unchanged then.
   */
  async performCompression(promptId: string, given: AbortOptions = {}): Promise<CompressedEvent> {
    const request = readCall(promptId, given);
    this.history.assertNotCompressing();
    return this.#runAlone(request.signal, () => this.#preflight.compress(request));
  }

  /**
   * Makes history and pending tokens fit the context window: prunes, compresses, summarizes the largest tool results and drops
   * the oldest turns. A failing compression is reported by `compressionFailed`, and the other steps still run. Waits for a
   * running preflight.
   *
   * @throws ContextWindowExceededError that says which part cannot fit.
   */
  async enforceContextWindow(
    promptId: string,
    pendingTokens: number = 0,
    given: AbortOptions = {},
  ): Promise<FittedEvent | null> {
    const request = readCall(promptId, given, pendingTokens);
    return this.#runAlone(request.signal, () => this.#preflight.enforceLimit(request));
  }

  /** Returns what a strategy would be given to compress the present history. */
  buildCompressionContext(promptId: string, given: AbortOptions = {}): CompressionContext {
    const { signal } = readCall(promptId, given);
    return compressionContext(this.#parts, this.#parts.config.strategy, promptId, signal);
  }

  /**
   * Explains what a density pass would do with an entry, by which rule and facts; whether it would land depends on `edits`. For
   * debugging: walks the whole history on the calling thread.
   *
   * @throws RangeError if the history has no entry at this index.
   */
  explain(index: number): EntryExplanation {
    return explainDensity(this.history.getRawHistory(), this.densityConfig).explain(index);
  }

  /** Emits that work ran on the calling thread because workers failed. */
  reportFallback(event: FallbackEvent): void {
    this.notify('fallback', event);
  }

  /**
   * Returns what a tool answered before an edit removed it: from the store of a named conversation, or from the removal log.
   *
   * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` if neither holds it.
   */
  async restore(callId: string): Promise<RestoredResponse> {
    assertString('callId', callId);
    const { removalLog, keeper } = this.#parts;
    const { added = [] } = this.history.journal;
    const original = await findOriginal(callId, this.sessionId, added, keeper);
    if (original !== undefined) return original;
    const who =
      keeper === undefined ? 'The session keeps no' : 'The store lacks it, and there is no';
    if (removalLog === undefined) throw keepsNoRemovalLog(who, callId);
    return removalLog.restore(callId, { sessionId: this.sessionId });
  }

  /**
   * Closes the session's removal log once the running preflight has ended, or after 5 s, when a running compression is aborted.
   * From the call on, no entry can be added and no preflight begins; the contents stay readable. Final and idempotent.
   */
  close(): Promise<void> {
    this.history.close();
    this.#preflight.ahead.close();
    return (this.#closing ??= this.#shutDown());
  }

  /** Totals of the offloaded work, and where it ran. */
  stats(): OffloadStats {
    return this.#parts.meter.stats;
  }

  /** Runs steps on the history: synchronously if nothing else runs, else after all running and waiting work. */
  #runAlone<Result>(signal: AbortSignal | undefined, begin: () => Steps<Result>): Promise<Result> {
    const run = async (): Promise<Result> => {
      signal?.throwIfAborted();
      const { revision } = this.history;
      try {
        return await this.#runSteps(begin());
      } finally {
        // Edits that landed before a failure stay, so they are saved as well.
        const isEdited = this.#parts.keeper !== undefined && this.history.revision !== revision;
        if (isEdited) void this.#next(() => this.#shared.saveInBackground());
      }
    };
    return abortable(this.#next(run, this.#queued === 0), signal);
  }

  /** Queues work behind all running and waiting work. @param runsAtOnce whether to run it at once instead */
  #next<Result>(run: () => Promise<Result>, runsAtOnce = false): Promise<Result> {
    const ended = runsAtOnce ? run() : this.#underWay.then(run);
    const onEnd = (): void => void (this.#queued -= 1);
    this.#queued += 1;
    this.#underWay = ended.then(onEnd, onEnd);
    return ended;
  }

  async #runAndSave(request: PreflightRequest): Promise<PreflightResult> {
    const isShared = this.#parts.keeper !== undefined;
    // Another process may have made the summary for which this turn would wait and pay.
    if (isShared && (await this.#preflight.needsModel(request))) await this.#shared.catchUp();
    const run = (): Promise<PreflightResult> => this.#runSteps(this.#preflight.run(request));
    const result = await (isShared ? this.#shared.saveAfter(run, request) : run());
    this.#preflight.ahead.start();
    return result;
  }

  async #runSteps<Result>(steps: Steps<Result>): Promise<Result> {
    this.history.assertOpen();
    for (;;) {
      const { done, value } = await steps.next();
      if (done === true) return value;
      this.#report(value);
    }
  }

  /** The one place that reports a step: to telemetry, to the guard, then to listeners. */
  #report(report: StepReport): void {
    if (report.step === 'none') {
      this.notify('compressionFailed', { error: report.compressionFailure });
      return;
    }
    const { step, event, recordingFailure: error } = report;
    if (error) this.notify('recordingFailed', { error });
    publishStep(this, report);
    this.#parts.guard.noteStep(report);
    if (!event) return;
    if (step === 'pruned') this.notify(step, event);
    else if (step === 'compressed') this.notify(step, event);
    else this.notify(step, event);
    const isHeard = this.listenerCount('removed') > 0;
    const { keeper } = this.#parts;
    if (!isHeard && keeper === undefined) return;
    const removed = this.#removed.ofStep(report, this.history.getRawHistory());
    if (!removed) return;
    keeper?.noteRemoved(removed.callIds);
    if (isHeard) this.notify('removed', { step, ...removed });
  }

  async #shutDown(): Promise<void> {
    const { removalLog, keeper, onClose } = this.#parts;
    if (keeper !== undefined) await nextTurn(); // The usage of an answer may come a turn later.
    // With a timeout, because a model may take minutes, and a summarizer may never settle.
    await settledWithin(CLOSE_TIMEOUT_MS, this.#underWay);
    this.#parts.ending.abort(sessionClosed());
    await this.#shared.end();
    await removalLog?.close();
    await onClose?.();
  }
}
