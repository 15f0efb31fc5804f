// Decides whether work may be tried at all after failures in a row. Knows neither threads nor tasks;
// time comes from an injected clock.

/** How a piece of work ended. `cancelled`: it says nothing about what did the work. */
export type WorkOutcome = 'success' | 'failure' | 'cancelled';

/** Leave to do one piece of work. Its holder reports the outcome exactly once. */
export interface WorkPermit {
  readonly isProbe: boolean;
}

export interface CircuitBreakerOptions {
  /** Failures in a row that open the breaker. */
  readonly failureThreshold: number;
  /** How long an open breaker admits nothing. */
  readonly coolDownMs: number;
  /** The current time in milliseconds, from any origin. */
  readonly now: () => number;
}

/**
 * A circuit breaker after M. Nygard, "Release It!" (2nd ed., ch. 5). Closed: everything is admitted.
 * Open: nothing is, until the cool-down has passed. Half-open: one piece of work is admitted as a
 * probe; its success closes the breaker, its failure opens it for another cool-down.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failuresInARow: number = 0;
  #openedAt: number | undefined;
  #probe: WorkPermit | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#openedAt !== undefined;
  }

  /** Returns a permit, or `undefined` when the work must not be tried now. */
  admit(): WorkPermit | undefined {
    if (this.#openedAt === undefined) return { isProbe: false };
    const hasCooledDown = this.#options.now() - this.#openedAt >= this.#options.coolDownMs;
    if (!hasCooledDown || this.#probe !== undefined) return undefined;
    this.#probe = { isProbe: true };
    return this.#probe;
  }

  report(permit: WorkPermit, outcome: WorkOutcome): void {
    const isProbe = permit === this.#probe;
    if (isProbe) this.#probe = undefined;
    if (outcome === 'cancelled') return;
    if (outcome === 'success') {
      // Work admitted before the breaker opened proves as much as a probe does.
      this.#failuresInARow = 0;
      this.#openedAt = undefined;
      return;
    }
    this.#failuresInARow += 1;
    // While open, only the probe's failure starts the cool-down anew: late failures of work that was
    // admitted before must not put off the next probe.
    const opens = this.isOpen ? isProbe : this.#failuresInARow >= this.#options.failureThreshold;
    if (opens) this.#openedAt = this.#options.now();
  }
}
