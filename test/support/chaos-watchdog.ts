// Sees to it that every promise of a chaos run settles in time, and keeps what was found wrong.

/** A run with more than so many violations has said enough. */
const MAX_VIOLATIONS = 20;

/** Collects violations; a run is good when there are none. */
export class Watchdog {
  readonly violations: string[] = [];
  readonly #deadlineMs: number;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Whether there is any use in going on. */
  get hasSeenEnough(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  report(violation: string): void {
    if (!this.hasSeenEnough) this.violations.push(violation);
  }

  /** Settles as `promise` does, or rejects when that has not settled in time, which is a violation. */
  async watch<Value>(name: string, promise: Promise<Value>): Promise<Value> {
    const { promise: tooLate, reject } = rejectable();
    const timer = setTimeout(() => {
      this.report(`${name} has not settled after ${this.#deadlineMs} ms`);
      reject(new HangError(name));
    }, this.#deadlineMs);
    try {
      return await Promise.race([promise, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Something that hangs: the session that awaits it cannot go on. */
export class HangError extends Error {}

function rejectable(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  return { promise, reject };
}
