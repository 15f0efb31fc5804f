// The time limit of a tool on one history. Tools that block are stopped from the counting functions passed to them.

/** Thrown inside a tool whose turn takes too long. */
export class OverBudgetError extends Error {
  override readonly name = 'OverBudgetError';
}

/** Limits each turn, and tells when several turns together have used the limit. */
export class PeerBudget {
  readonly #limitMs: number;
  #turnStartedAt = Infinity;
  #spentMs = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Whether the turns since the last renewal have used the limit. */
  get isSpent(): boolean {
    return this.#spentMs > this.#limitMs;
  }

  renew(): void {
    this.#spentMs = 0;
  }

  /** Runs a turn. @throws OverBudgetError when it was stopped; otherwise what the turn throws. */
  async run(turn: () => Promise<void>): Promise<void> {
    this.#turnStartedAt = performance.now();
    try {
      await turn();
    } finally {
      this.#spentMs += performance.now() - this.#turnStartedAt;
    }
  }

  /** @throws OverBudgetError when the running turn has used up its time. */
  assertLeft(): void {
    if (performance.now() - this.#turnStartedAt <= this.#limitMs) return;
    throw new OverBudgetError(`A turn took over ${this.#limitMs} ms.`);
  }
}
