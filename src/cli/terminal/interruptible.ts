// Signals: the first SIGINT stops a run cleanly, the second kills the process.

import { once } from 'node:events';

/** The user interrupted the run with SIGINT. */
export class InterruptedError extends Error {
  constructor() {
    super('Interrupted.');
    this.name = 'InterruptedError';
  }
}

/**
 * Runs a function whose signal aborts on the first SIGINT.
 *
 * @throws InterruptedError on SIGINT, as the signal's reason; what `run` throws.
 */
export async function interruptible<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interruption = new AbortController();
  // Registered with `once`: Node's default handles the second SIGINT and kills the process.
  const onInterrupt = (): void => {
    interruption.abort(new InterruptedError());
  };
  process.once('SIGINT', onInterrupt);
  try {
    return await run(interruption.signal);
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** Resolves on the first SIGINT or SIGTERM. A second SIGINT kills the process. */
export async function waitForTermination(): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal })));
  waiting.abort();
}
