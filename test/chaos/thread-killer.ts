// Terminates worker threads at random times, and knows which are alive.

import type { Worker } from 'node:worker_threads';

/** Pauses between terminations, in cold starts of a thread. */
const SHORTEST_PAUSE = 2;
const LONGEST_PAUSE = 12;

/** Tracks all threads started from now on. */
export class ThreadKiller {
  readonly #alive: Set<Worker> = new Set();
  readonly #random: () => number;
  readonly #coldStartMs: number;
  #timer: NodeJS.Timeout | undefined;
  #kills = 0;
  #started = 0;

  /** @param coldStartMs time until a thread's first answer */
  constructor(random: () => number, coldStartMs: number) {
    this.#random = random;
    this.#coldStartMs = coldStartMs;
    process.on('worker', this.#onWorker);
  }

  /** Number of threads terminated so far. */
  get kills(): number {
    return this.#kills;
  }

  /** Number of threads started so far. */
  get started(): number {
    return this.#started;
  }

  /** Starts terminating one thread after another. */
  begin(): void {
    const pauses = SHORTEST_PAUSE + this.#random() * (LONGEST_PAUSE - SHORTEST_PAUSE);
    this.#timer = setTimeout(() => {
      this.kill();
      this.begin();
    }, pauses * this.#coldStartMs);
  }

  /** Terminates a random live thread. */
  kill(): void {
    const victims = [...this.#alive];
    const victim = victims[Math.floor(this.#random() * victims.length)];
    if (victim === undefined) return;
    this.#kills += 1;
    void victim.terminate();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** Stops tracking. */
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
