// The time that a tool may take on one history. Tools that block are stopped from within, by the
// functions that they are given to count with.

/** Thrown inside a tool whose turn takes too long. */
export class OverBudgetError extends Error {
  override readonly name = 'OverBudgetError';
}

/** Bounds each turn, and tells when several turns together took as long as one may. */
export class PeerBudget {
  readonly #limitMs: number;
  #turnStartedAt = Infinity;
  #spentMs = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Whether the turns since the last renewal took as long as one may. */
  get isSpent(): boolean {
    return this.#spentMs > this.#limitMs;
  }

  renew(): void {
    this.#spentMs = 0;
  }

  /** Runs a turn. @throws OverBudgetError when it was stopped; whatever else it throws. */
  async run(turn: () => Promise<void>): Promise<void> {
    this.#turnStartedAt = performance.now();
    try {
      await turn();
    } finally {
      this.#spentMs += performance.now() - this.#turnStartedAt;
    }
  }

  /** @throws OverBudgetError when the turn that runs has used up its time. */
  assertLeft(): void {
    if (performance.now() - this.#turnStartedAt <= this.#limitMs) return;
    throw new OverBudgetError(`A turn took over ${this.#limitMs} ms.`);
  }
}
