// What a run is called off with.

/** Rejects a run that the user interrupted. */
export class InterruptedError extends Error {
  constructor() {
    super('Interrupted.');
    this.name = 'InterruptedError';
  }
}
