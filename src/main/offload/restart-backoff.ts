// Decides when threads may be started again after threads that did no good. Time is injected.

/** Delays in milliseconds: none before the first restart, then doubling up to the last. */
const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 30_000;

/** Spaces out restarts: a broken installation must not cost a thread start per task. */
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

  /** Notes that threads were given up; the first time in a row they may be replaced at once. */
  noteLoss(): void {
    this.#fruitlessStarts += 1;
    if (this.#fruitlessStarts === 1) return;
    const delayMs = FIRST_DELAY_MS * 2 ** (this.#fruitlessStarts - 2);
    this.#notBefore = this.#now() + Math.min(delayMs, LAST_DELAY_MS);
  }

  /** Notes that a thread did its work. */
  noteSuccess(): void {
    this.#fruitlessStarts = 0;
    this.#notBefore = -Infinity;
  }
}
