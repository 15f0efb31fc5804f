// Counts the tokens that each tool leaves with one exact counter, outside the measured time.

import type { IContent } from '../../src/index.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import { SnapshotOffload } from '../../src/main/offload/snapshot.js';
import { WorkerPool } from '../../src/main/offload/worker-pool.js';
import { check } from './check.js';

export class TokenScale implements AsyncDisposable {
  readonly #pool: WorkerPool = new WorkerPool({ taskTimeoutMs: 60_000 });
  readonly #meter = new OffloadMeter();
  readonly #offload: SnapshotOffload = new SnapshotOffload(this.#pool, this.#meter);
  /** By entry, so that entries which tools left unchanged are counted once for all. */
  readonly #known = new WeakMap<IContent, number>();

  /** Tokens of some entries together. */
  async weigh(entries: readonly IContent[]): Promise<number> {
    const unknown = entries.filter((entry) => !this.#known.has(entry));
    const counts = await this.#offload.countTokens(unknown);
    check(this.#meter.stats.failures === 0, 'a count failed');
    unknown.forEach((entry, at) => this.#known.set(entry, counts[at] ?? NaN));
    return entries.reduce((sum, entry) => sum + (this.#known.get(entry) ?? NaN), 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.close();
  }
}
