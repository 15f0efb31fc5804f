// Prevents loops of fruitless automatic compressions, by the outcome of the last ones. The clock is injected.

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
  /** The floor of an earlier session of this history. @default 0 */
  readonly floorTokens?: number | undefined;
}

/** Decides whether an automatic compression may run. */
export class ProgressGuard {
  readonly #minGrowthTokens: () => number;
  readonly #now: () => number;
  #floorTokens: number;
  #failures = 0;
  #pausedUntilMs = -Infinity;

  constructor(options: ProgressGuardOptions) {
    this.#minGrowthTokens = options.minGrowthTokens;
    this.#now = options.now;
    this.#floorTokens = options.floorTokens ?? 0;
  }

  /** Tokens that the history must have for the next compression. */
  get floorTokens(): number {
    return this.#floorTokens;
  }

  /** Returns why a history of this size must not be compressed now, or `null`. */
  holdReason(totalTokens: number): HoldReason | null {
    if (this.#now() < this.#pausedUntilMs) return 'cooling-down';
    return totalTokens < this.#floorTokens ? 'no-growth' : null;
  }

  /** Notes the outcome of a preflight step. A compression on request says nothing about automatic ones. */
  noteStep(report: StepReport): void {
    switch (report.step) {
      case 'pruned':
        if (report.event) this.noteShrunk(report.event.tokensAfter);
        return;
      case 'fitted':
        if (report.event) this.noteCut(report.event.tokensBefore, report.event.tokensAfter);
        return;
      case 'compressed':
        if (report.isUnderThreshold === undefined || report.isAborted) return;
        if (report.failure !== undefined) this.noteFailure();
        else if (report.event) this.noteEnd(report.event.tokensAfter, report.isUnderThreshold);
        return;
      case 'none':
    }
  }

  /** Notes a completed compression, whether or not its result was applied. */
  noteEnd(totalTokens: number, isUnderThreshold: boolean): void {
    this.#failures = 0;
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

  /** Notes a failed compression. After the pause one attempt is made; if it fails too, the next pause begins. */
  noteFailure(): void {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILURES) this.#pausedUntilMs = this.#now() + PAUSE_MS;
  }
}
