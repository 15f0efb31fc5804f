// Terminates worker threads from outside at random times, and knows which are alive.

import type { Worker } from 'node:worker_threads';

const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 2_000;

/** Watches every thread that the process starts from now on. */
export class ThreadKiller {
  readonly #alive: Set<Worker> = new Set();
  readonly #random: () => number;
  #timer: NodeJS.Timeout | undefined;
  #kills = 0;
  #started = 0;

  constructor(random: () => number) {
    this.#random = random;
    process.on('worker', this.#onWorker);
  }

  /** Threads that were terminated so far. */
  get kills(): number {
    return this.#kills;
  }

  /** Threads that were started so far. */
  get started(): number {
    return this.#started;
  }

  /** Begins to terminate one thread after another. */
  begin(): void {
    const pauseMs = SHORTEST_PAUSE_MS + this.#random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
    this.#timer = setTimeout(() => {
      const victims = [...this.#alive];
      const victim = victims[Math.floor(this.#random() * victims.length)];
      if (victim !== undefined) {
        this.#kills += 1;
        void victim.terminate();
      }
      this.begin();
    }, pauseMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** Stops watching. */
  leave(): void {
    this.end();
    process.off('worker', this.#onWorker);
  }

  readonly #onWorker = (worker: Worker): void => {
    this.#started += 1;
    this.#alive.add(worker);
    worker.once('exit', () => this.#alive.delete(worker));
  };
}
