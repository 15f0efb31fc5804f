// Checks that every promise of a chaos run settles in time, and collects violations.

/** A run stops after this many violations. */
const MAX_VIOLATIONS = 20;

/** Collects violations; a run passes without any. */
export class Watchdog {
  readonly violations: string[] = [];
  readonly #deadlineMs: number;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Whether to stop the run. */
  get hasSeenEnough(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  report(violation: string): void {
    if (!this.hasSeenEnough) this.violations.push(violation);
  }

  /** Settles like `promise`, or rejects if that does not settle in time, which is a violation. */
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

/** A promise that hangs: the session that awaits it cannot continue. */
export class HangError extends Error {}

function rejectable(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  return { promise, reject };
}
