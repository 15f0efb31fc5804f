// What happens to a history before each send, and in which order. Yields a report of each step; emits nothing itself.

import { asError, SummaryRejectedError } from '../../shared/errors.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { SessionMemory } from '../state/session-state.js';
import { newestCompaction } from '../strategies/provider-compaction.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { abortable } from '../waiting/abortable.js';
import { stripStaleReasoning } from './apply-edit.js';
import type { StepOutcome } from './apply-edit.js';
import { CompressionAhead } from './compression-ahead.js';
import { heldCompression, runCompressionStep } from './compression-step.js';
import { CostMeter } from './cost-meter.js';
import { DensityPruner } from './density-step.js';
import { tokensBelowStep, tokensToBeCached } from './due-passes.js';
import { needsOpenTurn } from './edit-policy.js';
import { fitHistory } from './fit-step.js';
import { makeCompressionWithFallback, dropReplaced, replacedEntries } from './make-compression.js';
import type { MadeCompression } from './make-compression.js';
import type { AbortOptions, RequestOptions } from './request-options.js';
import type {
  HoldReason,
  CompressedEvent,
  FittedEvent,
  PreflightResult,
  PrunedEvent,
  StepEnd,
  Steps,
} from './session-events.js';
import { gateOptions } from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** What a compression makes room for. */
interface CompressionAim {
  readonly pendingTokens: number;
  /** Whether an automatic one has achieved its goal. */
  readonly isReached?: () => boolean;
}

/** Makes one session's history ready to be sent. */
export class Preflight {
  readonly costs: CostMeter;
  readonly ahead: CompressionAhead;
  readonly #parts: SessionParts;
  readonly #pruner: DensityPruner;
  #hasScannedForDrops = false;

  /** @param former the one before, if the session goes on with the state of another process */
  constructor(parts: SessionParts, former?: Preflight) {
    this.#parts = parts;
    this.costs = new CostMeter(parts);
    this.#pruner = new DensityPruner(parts, this.costs);
    this.ahead = former?.ahead ?? new CompressionAhead(parts);
    if (former !== undefined) this.ahead.goOn(parts);
  }

  /** Whether content was added that no density pass has covered. */
  get isDirty(): boolean {
    return this.#pruner.isDirty;
  }

  /** The state for a later session of this history. */
  get memory(): SessionMemory {
    const { sent, guard, gauge } = this.#parts;
    return {
      sent: sent.memory,
      costs: this.costs.memory,
      passes: this.#pruner.memory,
      floorTokens: guard.floorTokens,
      request: gauge.request,
      usage: gauge.usageMemory,
      summaries: this.ahead.memory,
    };
  }

  /** Whether the next run may ask a model, or apply what one has written. */
  async needsModel(pendingTokens: number, { signal }: AbortOptions): Promise<boolean> {
    const { history, gauge } = this.#parts;
    if (!this.#parts.config.strategy.requiresLLM) return false;
    await abortable(history.waitForTokenUpdates(), signal);
    return this.ahead.isMade || gauge.shouldCompress(pendingTokens);
  }

  /** Runs all steps. */
  async *run(
    promptId: string,
    pendingTokens: number,
    options: RequestOptions,
  ): Steps<PreflightResult> {
    const { history, gauge, sent, cache, cacheMisses, reasoningTerms } = this.#parts;
    cache.beginRequest(options.cacheTtlMs);
    reasoningTerms.beginRequest(options.reasoning, options.removesReasoning);
    gauge.beginPreflight();
    cacheMisses.beginPreflight();
    await abortable(history.waitForTokenUpdates(), options.signal);
    if (options.removesReasoning === true) sent.noteRefusedReasoning();
    const dropped = yield* this.#dropReplaced(pendingTokens, options);
    const pruned = yield* this.prune(pendingTokens, options);
    options.signal?.throwIfAborted();
    const compressed = yield* this.#compressWhenDue(promptId, pendingTokens, options);
    // Needed even after a compression started below the limit: what was added meanwhile may be too much.
    const fitted = yield* this.#fit(pendingTokens, options);
    if (this.ahead.isWorthwhile(pendingTokens)) {
      this.ahead.begin(this.#parts.config.strategy, promptId);
    }
    gauge.endPreflight(pendingTokens);
    const toBeCached = tokensToBeCached(this.#parts, pendingTokens);
    this.costs.endPreflight(tokensBelowStep(this.#parts, pendingTokens), toBeCached);
    cacheMisses.endPreflight();
    sent.endPreflight(history.getTotalTokens() >= toBeCached);
    cache.endRequest();
    this.#hasScannedForDrops = true;
    return {
      pruned,
      compressed: appliedOf(compressed, dropped),
      fitted,
      totalTokens: history.getTotalTokens(),
      tokenSource: gauge.countSource,
    };
  }

  /** Drops what a provider has compacted by itself. Scans only unsent entries, except for the first time. */
  async *#dropReplaced(
    pendingTokens: number,
    { signal }: AbortOptions,
  ): Steps<CompressedEvent | null> {
    const { history, sent } = this.#parts;
    const from = this.#hasScannedForDrops ? sent.intactEntries : 0;
    const compaction = newestCompaction(history.getRawHistory(), from);
    if (compaction === -1) return null;
    const replaced = replacedEntries(history.getRawHistory(), compaction);
    if (replaced === 0) return null;
    const strategy = this.#parts.resolveStrategy('provider');
    const make = (): Promise<MadeCompression> => dropReplaced(this.#parts, replaced);
    try {
      return yield* this.#land(strategy, make, { pendingTokens }, signal);
    } catch (thrown) {
      signal?.throwIfAborted();
      // If it cannot be recorded, it stays: the provider ignores it anyway.
      if (!isWriteFailure(thrown)) throw thrown;
      return null;
    }
  }

  /** Prunes a dirty history. Edits that cannot be recorded do not land, as long as the history fits. */
  async *prune(
    pendingTokens: number,
    { signal, removesReasoning = false }: RequestOptions,
  ): Steps<PrunedEvent | null> {
    const { sent, reasoningTerms } = this.#parts;
    const isStale =
      (removesReasoning || reasoningTerms.policy !== 'keep') && sent.staleReasoningFrom < Infinity;
    const strip = (): Steps<PrunedEvent | null> =>
      this.#prune(() => stripStaleReasoning(this.#parts, signal), pendingTokens, signal);
    // What landed before was of messages with their reasoning, and is recorded so.
    const isLast = isStale && this.#pruner.needsReplay;
    const stripped = isStale && !isLast ? yield* strip() : null;
    const strategy = this.#pruner.begin();
    if (strategy === null) return isLast ? yield* strip() : stripped;
    const run = (): Promise<StepOutcome<PrunedEvent | null>> =>
      this.#pruner.run(strategy, pendingTokens, signal);
    const pruned = yield* this.#prune(run, pendingTokens, signal);
    return isLast ? bothOf(pruned, yield* strip()) : bothOf(stripped, pruned);
  }

  async *#prune(
    run: () => Promise<StepOutcome<PrunedEvent | null>>,
    pendingTokens: number,
    signal: AbortSignal | undefined,
  ): Steps<PrunedEvent | null> {
    const end = await this.#end(run, signal);
    if (end.event) this.costs.noteEdits(end.event);
    yield { step: 'pruned', strategy: this.#parts.config.pruning.name, ...end };
    const { failure } = end;
    if (
      failure !== undefined &&
      isWriteFailure(failure.thrown) &&
      this.#parts.gauge.fits(pendingTokens)
    )
      return null;
    return eventOf(end);
  }

  /**
   * Compresses the history.
   *
   * @param pendingTokens given for automatic compressions only
   */
  async *compress(
    promptId: string,
    { signal }: AbortOptions,
    pendingTokens?: number,
  ): Steps<CompressedEvent> {
    const strategy = this.#parts.config.strategy;
    const make = (): Promise<MadeCompression> =>
      makeCompressionWithFallback(this.#parts, strategy, promptId, signal);
    const { gauge } = this.#parts;
    const aim =
      pendingTokens === undefined
        ? { pendingTokens: 0 }
        : { pendingTokens, isReached: () => !gauge.shouldCompress(pendingTokens) };
    return yield* this.#land(strategy, make, aim, signal);
  }

  /** Only makes the history fit the window. */
  async *enforceLimit(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Steps<FittedEvent | null> {
    const { history, gauge } = this.#parts;
    await abortable(history.waitForTokenUpdates(), options.signal);
    if (gauge.fits(pendingTokens)) return null;
    yield* this.prune(pendingTokens, options);
    options.signal?.throwIfAborted();
    yield* this.#landAhead(promptId, pendingTokens, options);
    if (!gauge.fits(pendingTokens)) {
      yield* this.#compressOverLimit(promptId, pendingTokens, options);
    }
    return yield* this.#fit(pendingTokens, options);
  }

  /**
   * Compresses a history over the threshold or the limit. Returns `null` if it was not due, could not be recorded, failed over
   * the limit, or the model's summary was rejected.
   */
  async *#compressWhenDue(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Steps<CompressedEvent | null> {
    const { gauge } = this.#parts;
    const landed = yield* this.#landAhead(promptId, pendingTokens, options);
    if (!gauge.fits(pendingTokens)) {
      return appliedOf(yield* this.#compressOverLimit(promptId, pendingTokens, options), landed);
    }
    if (landed !== null || !gauge.shouldCompress(pendingTokens)) return landed;
    try {
      return yield* this.#compressUnlessHeld(promptId, pendingTokens, options);
    } catch (thrown) {
      if (isWriteFailure(thrown) && gauge.fits(pendingTokens)) return null;
      // A bad summary must not fail a turn whose history fits.
      if (!(thrown instanceof SummaryRejectedError)) throw thrown;
      yield { step: 'none', compressionFailure: thrown };
      return null;
    }
  }

  /**
   * Applies a finished background compression, of this process or another one; waits for a running one only if the history does
   * not fit. Returns `null` if there is none.
   */
  async *#landAhead(
    promptId: string,
    pendingTokens: number,
    { signal }: AbortOptions,
  ): Steps<CompressedEvent | null> {
    const { gauge, guard } = this.#parts;
    const { ahead } = this;
    if (!gauge.fits(pendingTokens)) await ahead.settled(signal);
    const compressionFailure = ahead.takeFailure();
    if (compressionFailure !== undefined) {
      guard.noteFailure();
      yield { step: 'none', compressionFailure };
    }
    if (!ahead.isWorthwhile(pendingTokens) || this.#waitsForTurn(pendingTokens)) return null;
    const strategy = this.#parts.config.strategy;
    await ahead.takeOver(strategy, promptId, signal);
    const made = ahead.take(strategy);
    if (made === undefined) return null;
    const aim = { pendingTokens, isReached: () => !ahead.isWorthwhile(pendingTokens) };
    try {
      return yield* this.#land(strategy, () => Promise.resolve(made), aim, signal);
    } catch (thrown) {
      signal?.throwIfAborted();
      // If it cannot be recorded, the entries stay, as long as the history fits.
      if (!isWriteFailure(thrown) || !gauge.fits(pendingTokens)) {
        yield { step: 'none', compressionFailure: asError(thrown) };
      }
      return null;
    }
  }

  /** Whether a compression that is not due yet would take away the thinking of a turn whose call is open. */
  #waitsForTurn(pendingTokens: number): boolean {
    const { history, gauge } = this.#parts;
    if (this.ahead.keepsReasoning) return false;
    const isNeeded = needsOpenTurn({ ...gateOptions(this.#parts), history });
    return isNeeded && !gauge.shouldCompress(pendingTokens);
  }

  /** Applies a compression. */
  async *#land(
    strategy: CompressionStrategy,
    make: () => Promise<MadeCompression>,
    { pendingTokens, isReached }: CompressionAim,
    signal: AbortSignal | undefined,
  ): Steps<CompressedEvent> {
    const former = this.#parts.history.getRawHistory();
    const run = (): Promise<StepOutcome<CompressedEvent>> =>
      runCompressionStep(this.#parts, make, pendingTokens, signal);
    const end = await this.#end(run, signal);
    this.ahead.noteEnd(end.event);
    const progress = isReached === undefined ? {} : { isUnderThreshold: isReached() };
    yield { step: 'compressed', strategy: strategy.name, former, ...progress, ...end };
    return eventOf(end);
  }

  /** A failing strategy must not keep the history from being fitted, so its error is only reported. */
  async *#compressOverLimit(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Steps<CompressedEvent | null> {
    try {
      return yield* this.#compressUnlessHeld(promptId, pendingTokens, options);
    } catch (thrown) {
      options.signal?.throwIfAborted();
      yield { step: 'none', compressionFailure: asError(thrown) };
      return null;
    }
  }

  /** Compresses, unless the guard or a background summary holds it. */
  async *#compressUnlessHeld(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Steps<CompressedEvent> {
    const { guard, history } = this.#parts;
    const reason = guard.holdReason(history.getTotalTokens()) ?? this.#holdReason(pendingTokens);
    if (reason === null) return yield* this.compress(promptId, options, pendingTokens);
    const event = heldCompression(this.#parts, reason);
    yield {
      step: 'compressed',
      event,
      former: [],
      isAborted: false,
      startTimeMs: Date.now(),
      durationMs: 0,
    };
    return event;
  }

  /** A history that fits does not wait for a model: a background summary is running, or starts after this preflight. */
  #holdReason(pendingTokens: number): HoldReason | null {
    const { ahead } = this;
    const strategy = this.#parts.config.strategy;
    const isMade = (strategy.requiresLLM && ahead.isUnderWay) || ahead.makes(strategy);
    return isMade && this.#parts.gauge.fits(pendingTokens) ? 'under-way' : null;
  }

  async *#fit(pendingTokens: number, { signal }: AbortOptions): Steps<FittedEvent | null> {
    signal?.throwIfAborted();
    if (this.#parts.gauge.fits(pendingTokens)) return null;
    const end = await this.#end(() => fitHistory(this.#parts, pendingTokens, signal), signal);
    yield { step: 'fitted', ...end };
    return eventOf(end);
  }

  /** Runs a step, and describes how it ended. */
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
      recordingFailure: this.#parts.recorder?.takeFailure(),
    };
  }
}

function eventOf<Event>({ event, failure }: StepEnd<Event>): Event {
  if (failure !== undefined || event === undefined) throw failure?.thrown;
  return event;
}

/** Returns the later of two events that was applied, since callers must follow it; if none was, the later one. */
function appliedOf(
  later: CompressedEvent | null,
  earlier: CompressedEvent | null,
): CompressedEvent | null {
  if (later?.outcome === 'applied') return later;
  return earlier?.outcome === 'applied' ? earlier : (later ?? earlier);
}

/** Returns what two edits of one preflight changed, in their order. */
function bothOf(first: PrunedEvent | null, second: PrunedEvent | null): PrunedEvent | null {
  if (first === null || second === null) return first ?? second;
  const changes = [...first.changes, ...second.changes];
  const { tokensBefore } = first;
  const { tokensAfter } = second;
  return { ...(first.edits.length > 0 ? first : second), changes, tokensBefore, tokensAfter };
}
