// Chooses per task between the calling thread and the pool, by what blocks the calling thread less.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import { InlineOffload } from './inline.js';
import type { BasedPlan, Offload, OffloadStats } from './offload.js';
import type { SnapshotOffload } from './snapshot.js';

export interface AutoOffloadOptions {
  /** Entries of the largest history that a density pass runs inline on. @default DEFAULT_MAX_INLINE_ENTRIES */
  readonly maxInlineEntries?: number | undefined;
}

/**
 * No limit: at no size does a worker relieve the calling thread of a pass. Milliseconds for which it
 * is blocked, inline / by the post of a snapshot (Node 20, 2 busy cores, some 3 kB per entry): 0.7 /
 * 2.2 at 1,000 entries, 8 / 45 at 10,000, 24 / 228 at 50,000, 49 / 502 at 100,000.
 */
export const DEFAULT_MAX_INLINE_ENTRIES: number = Infinity;

/**
 * Density passes inline up to a number of entries, on the pool beyond. Counting always on the pool:
 * it is a thousand times the work of a pass, and the worker has the encoding loaded.
 */
export class AutoOffload implements Offload {
  readonly #inline: InlineOffload = new InlineOffload();
  readonly #snapshot: SnapshotOffload;
  readonly #maxInlineEntries: number;

  constructor(snapshot: SnapshotOffload, options: AutoOffloadOptions = {}) {
    this.#snapshot = snapshot;
    this.#maxInlineEntries = options.maxInlineEntries ?? DEFAULT_MAX_INLINE_ENTRIES;
  }

  get stats(): OffloadStats {
    const { stats } = this.#snapshot;
    return { ...stats, inlineTasks: stats.inlineTasks + this.#inline.stats.inlineTasks };
  }

  optimize(
    history: readonly IContent[],
    base: DensityBase,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<BasedPlan> {
    const offload = base.length <= this.#maxInlineEntries ? this.#inline : this.#snapshot;
    return offload.optimize(history, base, config, signal);
  }

  countTokens(contents: readonly IContent[], signal?: AbortSignal): Promise<readonly number[]> {
    return this.#snapshot.countTokens(contents, signal);
  }
}
