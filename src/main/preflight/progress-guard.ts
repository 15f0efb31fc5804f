// Prevents loops of fruitless automatic compressions, by the outcome of the last ones. The clock is injected.

import type { FailureMemory, SessionMemory } from '../state/session-state.js';
import type { StepReport, HoldReason } from './session-events.js';

/** Consecutive failures after which automatic compressions pause. */
const MAX_FAILURES = 3;

const PAUSE_MS = 60_000;

export interface ProgressGuardOptions {
  /**
   * Returns the tokens by which the history must grow after a compression that did not get below the threshold. A function,
   * because the model may be named only after the session began.
   */
  readonly minGrowthTokens: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** What an earlier session of this history remembers. @default nothing */
  readonly former?: Pick<SessionMemory, 'floorTokens' | 'failures'> | undefined;
}

type CompressionReport = Extract<StepReport, { readonly step: 'compressed' }>;

/** Decides whether an automatic compression may run. */
export class ProgressGuard {
  readonly #minGrowthTokens: () => number;
  readonly #now: () => number;
  #floorTokens: number;
  #failures: FailureMemory = { times: 0, at: 0 };
  #pausedUntilMs = -Infinity;

  constructor({ minGrowthTokens, now, former }: ProgressGuardOptions) {
    this.#minGrowthTokens = minGrowthTokens;
    this.#now = now;
    const { floorTokens = 0, failures } = former ?? {};
    this.#floorTokens = floorTokens;
    if (failures === undefined) return;
    this.#failures = failures;
    const leftMs = PAUSE_MS - Math.abs(Date.now() - failures.at);
    if (failures.times >= MAX_FAILURES) this.#pausedUntilMs = this.#now() + leftMs;
  }

  /** Tokens that the history must have for the next compression. */
  get floorTokens(): number {
    return this.#floorTokens;
  }

  /** For a later session of this history, so that a process per request does not ask a model that is down each time. */
  get failures(): FailureMemory | undefined {
    return this.#failures.times === 0 ? undefined : this.#failures;
  }

  /** Returns why a history of this size must not be compressed now, or `null`. */
  holdReason(totalTokens: number): HoldReason | null {
    if (totalTokens < this.#floorTokens) return 'no-growth';
    return this.#isPaused ? 'cooling-down' : null;
  }

  /** Notes the outcome of a preflight step. A compression on request says nothing about automatic ones. */
  noteStep(report: StepReport): void {
    if (report.step === 'compressed') this.#noteCompression(report);
    if (report.step === 'pruned' && report.event) this.noteShrunk(report.event.tokensAfter);
    if (report.step === 'fitted' && report.event)
      this.noteCut(report.event.tokensBefore, report.event.tokensAfter);
  }

  #noteCompression({ event, failure, isUnderThreshold, isAborted }: CompressionReport): void {
    if (isUnderThreshold === undefined || isAborted) return;
    const isFallback = event?.fallbackFrom !== undefined;
    if (failure !== undefined || isFallback) this.noteFailure();
    if (failure === undefined && event)
      this.noteEnd(event.tokensAfter, isUnderThreshold, isFallback);
  }

  /**
   * Notes a completed compression, whether or not its result was applied.
   *
   * @param isFallback whether it stood in for one that failed; during a pause, all do @default false
   */
  noteEnd(totalTokens: number, isUnderThreshold: boolean, isFallback: boolean = false): void {
    if (!isFallback && !this.#isPaused) this.#failures = { times: 0, at: 0 };
    this.#floorTokens = isUnderThreshold ? 0 : totalTokens + this.#minGrowthTokens();
  }

  /** Notes that something else made the history smaller: growth is measured from there. */
  noteShrunk(totalTokens: number): void {
    this.#floorTokens = Math.min(this.#floorTokens, totalTokens + this.#minGrowthTokens());
  }

  /**
   * Notes that a history that did not fit was cut. The cut part still counts as growth: otherwise a history that is cut to the
   * limit each time would never reach the floor, and never be compressed again.
   */
  noteCut(tokensBefore: number, tokensAfter: number): void {
    this.#floorTokens -= tokensBefore - tokensAfter;
    this.noteShrunk(tokensAfter);
  }

  /**
   * Notes a failed compression. After the pause one attempt is made; if it fails too, the next pause begins.
   *
   * @param isWaitedFor whether a turn could not go on without it: the pause begins at once, so that it does not wait again
   */
  noteFailure(isWaitedFor: boolean = false): void {
    const times = isWaitedFor ? MAX_FAILURES : this.#failures.times + 1;
    this.#failures = { times, at: Date.now() };
    if (times >= MAX_FAILURES) this.#pausedUntilMs = this.#now() + PAUSE_MS;
  }

  get #isPaused(): boolean {
    return this.#now() < this.#pausedUntilMs;
  }
}
