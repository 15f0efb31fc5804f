// Decides when work may be tried again after failures in a row: a pool's tasks, the restarts of its threads, and a session's
// residences. The clock is injected.

export interface FailurePausesOptions {
  /** Failures in a row after which there is no pause yet. */
  readonly freeFailures: number;
  /** The first pause. Each further one is twice as long as the last. */
  readonly firstPauseMs: number;
  /** The longest pause. @default the first one */
  readonly longestPauseMs?: number;
  /** The current time in milliseconds, from any origin. */
  readonly now: () => number;
}

/**
 * Pauses between attempts: a circuit breaker after M. Nygard, "Release It!" (2nd ed., ch. 5). A success ends them. After a pause, one
 * attempt is admitted, which begins the next pause; whatever else fails during a pause does not prolong it.
 */
export class FailurePauses {
  readonly #options: FailurePausesOptions;
  #failures = 0;
  #notBefore = -Infinity;

  constructor(options: FailurePausesOptions) {
    this.#options = options;
  }

  /** Whether so much has failed in a row that attempts come after pauses. */
  get isFailing(): boolean {
    return this.#failures > this.#options.freeFailures;
  }

  get isPausing(): boolean {
    return this.#options.now() < this.#notBefore;
  }

  /** Whether the work may be tried now. */
  admits(): boolean {
    if (this.isPausing) return false;
    if (this.isFailing) this.#pause();
    return true;
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#notBefore = -Infinity;
  }

  /** Returns whether a pause begins. */
  noteFailure(): boolean {
    this.#failures += 1;
    if (!this.isFailing || this.isPausing) return false;
    this.#pause();
    return true;
  }

  #pause(): void {
    const { now, freeFailures, firstPauseMs, longestPauseMs = firstPauseMs } = this.#options;
    const pauseMs = firstPauseMs * 2 ** (this.#failures - freeFailures - 1);
    this.#notBefore = now() + Math.min(pauseMs, longestPauseMs);
  }
}
