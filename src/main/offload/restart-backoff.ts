// Decides when threads may be restarted after failures. The clock is injected.

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
