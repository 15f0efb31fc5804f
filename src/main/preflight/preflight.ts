// What happens to a history before each send, and in which order. Yields a report of each step; emits nothing itself.

import { asError, SummaryRejectedError } from '../../shared/errors.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { SessionMemory } from '../state/session-state.js';
import { canReadSame, newestCompaction } from '../strategies/provider-compaction.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { abortable } from '../waiting/abortable.js';
import { eventOf, latestApplied, mergedEvents, stripStaleReasoning } from './apply-edit.js';
import type { StepOutcome } from './apply-edit.js';
import { CompressionAhead } from './compression-ahead.js';
import { heldStep, runCompressionStep } from './compression-step.js';
import { CostMeter } from './cost-meter.js';
import { DensityPruner } from './density-step.js';
import { needsOpenTurn } from './edit-policy.js';
import { fitHistory } from './fit-step.js';
import {
  makeCompressionWithFallback,
  dropReplaced,
  fallbackOf,
  replacedEntries,
} from './make-compression.js';
import type { MadeCompression } from './make-compression.js';
import type { AbortOptions, PreflightRequest, RequestOptions } from './request-options.js';
import type {
  HoldReason,
  CompressedEvent,
  FittedEvent,
  PreflightResult,
  PrunedEvent,
  StepEnd,
  Steps,
} from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { cachingTerms } from './token-tally.js';

/** What a preflight finds before it prunes: whether the history is over the limit, and whether it is rewritten in any case. */
type BeforePruning = Readonly<Record<'isOver' | 'isRewriting', boolean>>;

/** Makes one session's history ready to be sent. */
export class Preflight {
  readonly costs: CostMeter;
  readonly ahead: CompressionAhead;
  readonly #parts: SessionParts;
  readonly #pruner: DensityPruner;
  /** The model for which the history was searched for compactions by its provider; `null` for none. */
  #searchedFor: string | null | undefined = null;

  /** @param former the preflight to replace, if the session continues with the state of another process */
  constructor(parts: SessionParts, former?: Preflight) {
    this.#parts = parts;
    this.costs = new CostMeter(parts);
    this.#pruner = new DensityPruner(parts, this.costs);
    this.ahead = former?.ahead ?? new CompressionAhead(parts);
    if (former !== undefined) this.ahead.resume(parts);
  }

  /** Whether entries were added that no density pass has covered. */
  get isDirty(): boolean {
    return this.#pruner.isDirty;
  }

  /** The state for a later session of this history. */
  get memory(): SessionMemory {
    const { sent, guard, gauge, reasoningTerms } = this.#parts;
    return {
      sent: sent.memory,
      costs: this.costs.memory,
      passes: this.#pruner.memory,
      floorTokens: guard.floorTokens,
      failures: guard.failures,
      request: gauge.request,
      usage: gauge.usageMemory,
      summaries: this.ahead.memory,
      refusing: reasoningTerms.memory,
    };
  }

  /** Notes that the history was cleared. */
  noteClear(): void {
    this.#parts.sent.startOver();
    this.#parts.guard.noteShrunk(0);
    this.costs.noteClear();
    this.#pruner.noteClear();
  }

  /** Whether the next run may call a model, or apply a summary that a model has written. */
  async needsModel(request: PreflightRequest): Promise<boolean> {
    const { config, history, gauge } = this.#parts;
    if (!config.strategy.requiresLLM) return false;
    await abortable(history.waitForTokenUpdates(), request.signal);
    const { pendingTokens, excessTokens = 0 } = request;
    return this.ahead.isMade || gauge.shouldCompress(pendingTokens + excessTokens);
  }

  /** Runs all steps. */
  async *run(request: PreflightRequest): Steps<PreflightResult> {
    const { config, history, gauge, cache, reasoningTerms } = this.#parts;
    cache.beginRequest(request.cacheTtlMs);
    reasoningTerms.beginRequest(request.reasoning, request.removesReasoning, history.modelName);
    gauge.beginRequest(request);
    gauge.beginPreflight();
    try {
      const result = yield* this.#runSteps(request);
      // After an abort behind the last step nothing is sent: its caller has been told.
      request.signal?.throwIfAborted();
      if (this.ahead.isWorthwhile()) this.ahead.begin(config.strategy, request.promptId);
      this.#endPreflight();
      return { ...result, totalTokens: history.getTotalTokens(), tokenSource: gauge.countSource };
    } catch (thrown) {
      // Adapters send the history nevertheless, with the edits that have landed: it must not be changed later.
      if (gauge.fits() && request.signal?.aborted !== true) this.#endPreflight();
      throw thrown;
    }
  }

  async *#runSteps(
    request: PreflightRequest,
  ): Steps<Pick<PreflightResult, 'pruned' | 'compressed' | 'fitted'>> {
    const { history, sent, gauge } = this.#parts;
    const { signal } = request;
    await abortable(history.waitForTokenUpdates(), signal);
    const dropped = yield* this.#dropReplaced(signal);
    // After the drop, because a drop resets `sent`, and these notes with it.
    sent.noteOtherCalls();
    if (request.removesReasoning === true) sent.noteStaleReasoning(0);
    const before = { isOver: !gauge.fits(), isRewriting: this.#isRewriting };
    const pruned = yield* this.#pruneWhenDirty(request);
    signal?.throwIfAborted();
    const compressed = yield* this.#compressWhenDue(request, before, pruned);
    // Needed even if the history was below the limit before: entries added during the compression may exceed it.
    const fitted = yield* this.#fit(signal);
    return { pruned, compressed: latestApplied(compressed, dropped), fitted };
  }

  #endPreflight(): void {
    const { history, gauge, sent, cache, cacheMisses } = this.#parts;
    gauge.endPreflight();
    const terms = cachingTerms(this.#parts);
    this.costs.endPreflight(terms);
    cacheMisses.endPreflight();
    sent.endPreflight(history.getTotalTokens() >= (terms.minCachedTokens ?? 0));
    cache.endRequest();
    this.#searchedFor = history.modelName;
  }

  /** Only prunes a dirty history. */
  async *prune(options: AbortOptions): Steps<PrunedEvent | null> {
    this.#parts.gauge.beginRequest({ pendingTokens: 0 });
    return yield* this.#pruneWhenDirty(options);
  }

  /** Only compresses the history, whatever its size. */
  async *compress(request: PreflightRequest): Steps<CompressedEvent> {
    this.#parts.gauge.beginRequest(request);
    return yield* this.#compress(request, this.#parts.config.strategy);
  }

  /** Only makes the history fit the window. */
  async *enforceLimit(request: PreflightRequest): Steps<FittedEvent | null> {
    const { history, gauge } = this.#parts;
    const { signal } = request;
    gauge.beginRequest(request);
    await abortable(history.waitForTokenUpdates(), signal);
    if (gauge.fits()) return null;
    yield* this.#pruneWhenDirty(request);
    signal?.throwIfAborted();
    yield* this.#landAhead(request, true);
    if (!gauge.fits()) yield* this.#compressOverLimit(request);
    return yield* this.#fit(signal);
  }

  /** Drops the entries that a provider's own compaction replaces. Looks for it only in unsent entries, except in the first preflight for a provider. */
  async *#dropReplaced(signal: AbortSignal | undefined): Steps<CompressedEvent | null> {
    const { history, sent } = this.#parts;
    const from = canReadSame(this.#searchedFor, history.modelName) ? sent.intactEntries : 0;
    const compaction = newestCompaction(history.getRawHistory(), from, history.modelName);
    if (compaction === -1) return null;
    const replaced = replacedEntries(history.getRawHistory(), compaction);
    if (replaced === 0) return null;
    const strategy = this.#parts.config.resolveStrategy('provider');
    const steps = this.#land(strategy, () => dropReplaced(this.#parts, replaced), signal);
    // Entries that cannot be recorded may stay: the provider ignores everything in front of its compaction anyway.
    return yield* this.#survive(steps, signal, (thrown) => !isWriteFailure(thrown));
  }

  /** Prunes a dirty history. Edits that cannot be recorded do not land, as long as the history fits. */
  async *#pruneWhenDirty(request: RequestOptions): Steps<PrunedEvent | null> {
    const { signal, removesReasoning = false } = request;
    const { sent, reasoningTerms } = this.#parts;
    const hasLost = this.#pruner.hasLostResults;
    // With nothing in a cache, what is stale leaves first: a shrunk result that refers to another one would keep it.
    const isLater = hasLost && sent.intactEntries === 0;
    const shrink = (): Steps<PrunedEvent | null> =>
      this.#prune(() => this.#pruner.shrinkLost(signal), signal);
    const shrunk = hasLost && !isLater ? yield* shrink() : null;
    const isStale = (): boolean =>
      (removesReasoning || reasoningTerms.isStripping) && sent.staleReasoningFrom < Infinity;
    const strip = (): Steps<PrunedEvent | null> =>
      this.#prune(() => stripStaleReasoning(this.#parts, signal), signal);
    // A replay goes first: the edits that it repeats were made, and recorded, on entries that still had their reasoning.
    const isLast = this.#pruner.needsReplay;
    const stripped = isStale() && !isLast ? yield* strip() : null;
    const pruned = this.#pruner.isDue
      ? yield* this.#prune(() => this.#pruner.run(this.#isRewriting, signal), signal)
      : null;
    const shrunkLater = isLater ? yield* shrink() : null;
    const isLeft = isStale() && (isLast || isLater);
    return mergedEvents(shrunk, stripped, pruned, shrunkLater, isLeft ? yield* strip() : null);
  }

  /** Whether this preflight rewrites most of the history anyway: it is over the limit, or is about to be compressed. */
  get #isRewriting(): boolean {
    const { gauge, history } = this.#parts;
    if (history.getTotalTokens() < gauge.thresholdTokens()) return false;
    return !gauge.fits() || this.ahead.isMade || this.#holdReason === null;
  }

  async *#prune(
    run: () => Promise<StepOutcome<PrunedEvent | null>>,
    signal: AbortSignal | undefined,
  ): Steps<PrunedEvent | null> {
    const { config, gauge } = this.#parts;
    const end = await this.#end(run, signal);
    if (end.event) this.costs.noteEdits(end.event);
    yield { step: 'pruned', strategy: config.pruning.name, ...end };
    const isUnrecorded = end.failure !== undefined && isWriteFailure(end.failure.thrown);
    return isUnrecorded && gauge.fits() ? null : eventOf(end);
  }

  /**
   * @param isReached whether an automatic compression has reached its goal @default the compression is on request and has none
   * @param isNeeded as in `fallbackOf`
   */
  async *#compress(
    { promptId, signal }: PreflightRequest,
    strategy: CompressionStrategy,
    isReached?: () => boolean,
    isNeeded: boolean = false,
  ): Steps<CompressedEvent> {
    const make = (): Promise<MadeCompression> =>
      makeCompressionWithFallback(this.#parts, strategy, isNeeded, promptId, signal);
    return yield* this.#land(strategy, make, signal, isReached);
  }

  /**
   * Compresses a history over the threshold or the limit, or one that the edits of this preflight have left little below the
   * threshold. Returns `null` if no compression was due, its removals could not be recorded, it failed while the history was over
   * the limit, or the model's summary was rejected.
   */
  async *#compressWhenDue(
    request: PreflightRequest,
    before: BeforePruning,
    pruned: PrunedEvent | null,
  ): Steps<CompressedEvent | null> {
    const { gauge, history } = this.#parts;
    const isReached = (): boolean =>
      pruned?.reason === 'threshold'
        ? history.getTotalTokens() < gauge.lowWaterTokens()
        : !gauge.shouldCompress();
    const landed = yield* this.#landAhead(request, before.isRewriting);
    if (!gauge.fits()) return latestApplied(yield* this.#compressOverLimit(request), landed);
    if (landed !== null || isReached()) return landed;
    const steps = this.#compressUnlessHeld(request, isReached, before.isOver);
    // A bad summary must not fail a turn whose history fits.
    const isFatal = (thrown: unknown): boolean =>
      !(thrown instanceof SummaryRejectedError || (isWriteFailure(thrown) && gauge.fits()));
    return yield* this.#survive(steps, request.signal, isFatal);
  }

  /**
   * Runs a compression without which the preflight can go on, and reports its failure. Entries that cannot be recorded stay, and
   * that is no failure as long as the history fits. Returns `null` if it failed.
   *
   * @param isFatal whether a failure ends the preflight @default none does
   */
  async *#survive(
    steps: Steps<CompressedEvent | null>,
    signal: AbortSignal | undefined,
    isFatal: (thrown: unknown) => boolean = () => false,
  ): Steps<CompressedEvent | null> {
    try {
      return yield* steps;
    } catch (thrown) {
      signal?.throwIfAborted();
      if (isFatal(thrown)) throw thrown;
      if (!isWriteFailure(thrown) || !this.#parts.gauge.fits())
        yield { step: 'none', compressionFailure: asError(thrown) };
      return null;
    }
  }

  /**
   * Applies a finished background compression of this process or of another one. Waits for a running one only if the history
   * does not fit. Returns `null` if none landed.
   *
   * @param isRewriting whether this preflight rewrites the history anyway; else it waits for a turn whose reasoning it would strip
   */
  async *#landAhead(
    { promptId, signal }: PreflightRequest,
    isRewriting: boolean,
  ): Steps<CompressedEvent | null> {
    const { gauge, guard } = this.#parts;
    const { ahead } = this;
    if (!gauge.fits()) await ahead.settled(signal);
    const compressionFailure = ahead.takeFailure();
    if (compressionFailure !== undefined) {
      guard.noteFailure(!gauge.fits());
      yield { step: 'none', compressionFailure };
    }
    const isEarly = !isRewriting && !ahead.keepsReasoning && needsOpenTurn(this.#parts);
    if (!ahead.isWorthwhile() || isEarly) return null;
    const strategy = this.#parts.config.strategy;
    await ahead.takeOver(strategy, promptId, signal);
    const made = ahead.take(strategy);
    if (made === undefined) return null;
    const make = (): Promise<MadeCompression> => Promise.resolve(made);
    const isReached = (): boolean => !ahead.isWorthwhile();
    return yield* this.#survive(this.#land(strategy, make, signal, isReached), signal);
  }

  /** Applies a compression. @param isReached as in `#compress` */
  async *#land(
    strategy: CompressionStrategy,
    make: () => Promise<MadeCompression>,
    signal: AbortSignal | undefined,
    isReached?: () => boolean,
  ): Steps<CompressedEvent> {
    const former = this.#parts.history.getRawHistory();
    const end = await this.#end(() => runCompressionStep(this.#parts, make, signal), signal);
    this.ahead.noteEnd(end.event);
    if (end.event?.outcome === 'applied') this.costs.noteCompression();
    const progress = isReached === undefined ? {} : { isUnderThreshold: isReached() };
    yield { step: 'compressed', strategy: strategy.name, former, ...progress, ...end };
    return eventOf(end);
  }

  /** Compresses over the limit. Only reports an error of the strategy, so that the fit step still runs. */
  async *#compressOverLimit(request: PreflightRequest): Steps<CompressedEvent | null> {
    const isReached = (): boolean => !this.#parts.gauge.shouldCompress();
    return yield* this.#survive(this.#compressUnlessHeld(request, isReached, true), request.signal);
  }

  /**
   * Compresses, unless the guard or a background summary holds the compression.
   *
   * @param isReached as in `#compress`
   * @param isNeeded whether the history does not fit, or did not before it was pruned: the cache is lost in any case
   */
  async *#compressUnlessHeld(
    request: PreflightRequest,
    isReached: () => boolean,
    isNeeded: boolean,
  ): Steps<CompressedEvent> {
    const { strategy } = this.#parts.config;
    const reason = this.#holdReason;
    if (reason === null) return yield* this.#compress(request, strategy, isReached, isNeeded);
    const fallback = fallbackOf(this.#parts, strategy, isNeeded);
    if (reason === 'cooling-down' && fallback !== undefined)
      return yield* this.#compress(request, fallback, isReached, isNeeded);
    const held = heldStep(this.#parts, reason);
    yield held;
    return held.event;
  }

  /** Why no compression may run now, or `null`. While the history fits, no turn waits for one if a background summary is coming. */
  get #holdReason(): HoldReason | null {
    const { ahead } = this;
    const { config, gauge, guard, history } = this.#parts;
    const reason = guard.holdReason(history.getTotalTokens());
    if (reason !== null) return reason;
    const isMade =
      (config.strategy.requiresLLM && ahead.isUnderWay) || ahead.makes(config.strategy);
    return isMade && gauge.fits() ? 'under-way' : null;
  }

  async *#fit(signal: AbortSignal | undefined): Steps<FittedEvent | null> {
    signal?.throwIfAborted();
    if (this.#parts.gauge.fits()) return null;
    const end = await this.#end(() => fitHistory(this.#parts, signal), signal);
    yield { step: 'fitted', ...end };
    return eventOf(end);
  }

  async #end<Event>(
    run: () => Promise<StepOutcome<Event>>,
    signal: AbortSignal | undefined,
  ): Promise<StepEnd<Event>> {
    const startTimeMs = Date.now();
    const start = performance.now();
    const outcome = await run().catch((thrown: unknown) => ({ failure: { thrown } }));
    return {
      ...outcome,
      startTimeMs,
      durationMs: performance.now() - start,
      isAborted: signal?.aborted === true,
      recordingFailure: this.#parts.removalLog?.takeFailure(),
    };
  }
}
