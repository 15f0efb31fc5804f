// Decides when work may be tried again after consecutive failures: a circuit breaker for tasks, and a backoff for restarting
// threads. The clock is injected.

/** The outcome of a piece of work. `cancelled` says nothing about the worker. */
export type WorkOutcome = 'success' | 'failure' | 'cancelled';

/** Permission for one piece of work. Its outcome must be reported exactly once. */
export interface WorkPermit {
  readonly isProbe: boolean;
}

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the breaker. */
  readonly failureThreshold: number;
  /** How long an open breaker admits nothing. */
  readonly coolDownMs: number;
  /** The current time in milliseconds, from any origin. */
  readonly now: () => number;
}

/**
 * A circuit breaker after M. Nygard, "Release It!" (2nd ed., ch. 5). Closed: everything is admitted. Open: nothing is, until
 * the cool-down has passed. Half-open: one piece of work is admitted as a probe; its success closes the breaker, its failure
 * opens it for another cool-down.
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

  /** Returns a permit, or `undefined` if the work must not be tried now. */
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
      // Work admitted before the breaker opened is as good a proof as a probe.
      this.#failuresInARow = 0;
      this.#openedAt = undefined;
      return;
    }
    this.#failuresInARow += 1;
    // While open, only the probe's failure restarts the cool-down: late failures of earlier work must not delay the next probe.
    const opens = this.isOpen ? isProbe : this.#failuresInARow >= this.#options.failureThreshold;
    if (opens) this.#openedAt = this.#options.now();
  }
}

/** Delays in milliseconds: none before the first restart, then doubling up to the maximum. */
const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 30_000;

/** Spaces out restarts: a broken installation must not start a thread per task. */
export class RestartBackoff {
  readonly #now: () => number;
  #fruitlessStarts: number = 0;
  #notBefore: number = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  get mayStart(): boolean {
    return this.#now() >= this.#notBefore;
  }

  /** Notes a failed set of threads; the first in a row may be replaced at once. */
  noteLoss(): void {
    this.#fruitlessStarts += 1;
    if (this.#fruitlessStarts === 1) return;
    const delayMs = FIRST_DELAY_MS * 2 ** (this.#fruitlessStarts - 2);
    this.#notBefore = this.#now() + Math.min(delayMs, LAST_DELAY_MS);
  }

  /** Notes that a thread has completed a task. */
  noteSuccess(): void {
    this.#fruitlessStarts = 0;
    this.#notBefore = -Infinity;
  }
}
