// Adds up what an offload does. A ledger only: it decides nothing.

import type { OffloadStats } from './offload.js';

/** The running totals of one offload, or of several that share it. */
export class OffloadMeter {
  #workerTasks: number = 0;
  #inlineTasks: number = 0;
  #fallbacks: number = 0;
  #failures: number = 0;
  #workerMs: number = 0;
  #queueMs: number = 0;

  /** A copy of the totals. */
  get stats(): OffloadStats {
    return {
      workerTasks: this.#workerTasks,
      inlineTasks: this.#inlineTasks,
      fallbacks: this.#fallbacks,
      failures: this.#failures,
      workerMs: this.#workerMs,
      queueMs: this.#queueMs,
    };
  }

  addWorkerTask(runMs: number, queueMs: number): void {
    this.#workerTasks += 1;
    this.#workerMs += runMs;
    this.#queueMs += queueMs;
  }

  addInlineTask(): void {
    this.#inlineTasks += 1;
  }

  addFallback(): void {
    this.#fallbacks += 1;
  }

  addFailure(): void {
    this.#failures += 1;
  }
}
