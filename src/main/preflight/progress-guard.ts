// Keeps automatic compressions from going round in circles: bookkeeping about how the last ones
// ended, with the clock handed in.

import type { StepReport } from './preflight.js';

/** Why no automatic compression may run now. */
export type HoldReason =
  /** The last one did not get under the threshold, and the history has not grown much since. */
  | 'no-growth'
  /** The last ones failed; the next one is tried after a while. */
  | 'cooling-down'
  /** A model is asked for a summary in the background, and the history fits without it. */
  | 'under-way';

export interface ProgressGuardOptions {
  /** Tokens by which the history must grow after a compression that did not get under the threshold, or what returns them. */
  readonly minGrowthTokens: number | (() => number);
  /** Failures in a row after which automatic compressions pause. @default 3 */
  readonly failureThreshold?: number;
  /** How long they pause, in milliseconds. @default 60_000 */
  readonly coolDownMs?: number;
  /** Milliseconds that only grow. @default performance.now */
  readonly now?: () => number;
  /** Tokens that a former session of the history was to have. @default 0 */
  readonly floorTokens?: number | undefined;
}

/** Decides whether an automatic compression may run. */
export class ProgressGuard {
  /** Asked when it counts: a model may be named after its session began. */
  readonly #minGrowthTokens: () => number;
  readonly #failureThreshold: number;
  readonly #coolDownMs: number;
  readonly #now: () => number;
  /** The history must hold this many tokens. */
  #floorTokens: number;
  #failures = 0;
  #pausedUntilMs = -Infinity;

  constructor(options: ProgressGuardOptions) {
    const { minGrowthTokens } = options;
    this.#minGrowthTokens =
      typeof minGrowthTokens === 'number' ? () => minGrowthTokens : minGrowthTokens;
    this.#floorTokens = options.floorTokens ?? 0;
    this.#failureThreshold = options.failureThreshold ?? 3;
    this.#coolDownMs = options.coolDownMs ?? 60_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Tokens that the history must hold for the next compression. */
  get floorTokens(): number {
    return this.#floorTokens;
  }

  /** Returns what speaks against compressing a history of that size now, or `null`. */
  holdReason(totalTokens: number): HoldReason | null {
    if (this.#now() < this.#pausedUntilMs) return 'cooling-down';
    return totalTokens < this.#floorTokens ? 'no-growth' : null;
  }

  /** Notes how a step of a preflight ended. A compression that somebody asked for says nothing of automatic ones. */
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

  /** Notes a compression that ran to its end, whether its result was taken or not. */
  noteEnd(totalTokens: number, isUnderThreshold: boolean): void {
    this.#failures = 0;
    this.#floorTokens = isUnderThreshold ? 0 : totalTokens + this.#minGrowthTokens();
  }

  /** Notes that something else made the history smaller: growth is counted from there. */
  noteShrunk(totalTokens: number): void {
    this.#floorTokens = Math.min(this.#floorTokens, totalTokens + this.#minGrowthTokens());
  }

  /**
   * Notes that what did not fit was cut off. That counts as growth still: a history that is cut back
   * to the limit every time would never grow, and never be compressed again.
   */
  noteCut(tokensBefore: number, tokensAfter: number): void {
    this.#floorTokens -= tokensBefore - tokensAfter;
    this.noteShrunk(tokensAfter);
  }

  /** Notes a compression that failed. After a pause one is tried; should that fail too, the next pause begins. */
  noteFailure(): void {
    this.#failures += 1;
    if (this.#failures >= this.#failureThreshold) {
      this.#pausedUntilMs = this.#now() + this.#coolDownMs;
    }
  }
}
