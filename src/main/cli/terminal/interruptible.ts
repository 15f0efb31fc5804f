// How a run is called off by its user: a first SIGINT ends it in order, a second one at once.

/** Rejects a run that the user interrupted. */
export class InterruptedError extends Error {
  constructor() {
    super('Interrupted.');
    this.name = 'InterruptedError';
  }
}

/**
 * Runs something that a first SIGINT ends.
 *
 * @throws InterruptedError on SIGINT, by way of the signal; what `run` throws.
 */
export async function interruptible<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interruption = new AbortController();
  // Once only: a second SIGINT ends the process at once.
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

/** Resolves when the user interrupts the process, or the system asks it to end; a second SIGINT ends it at once. */
export async function untilEnded(): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      process.removeListener('SIGINT', end);
      process.removeListener('SIGTERM', end);
      resolve();
    };
    process.once('SIGINT', end);
    process.once('SIGTERM', end);
  });
}
