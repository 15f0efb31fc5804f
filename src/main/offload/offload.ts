// The port through which the main thread has a history's heavy work done, wherever that happens.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import type { DensityPlan } from '../../shared/density/plan.js';

/** Where a session's work runs. `auto` chooses per pass. */
export type OffloadMode = 'auto' | 'snapshot' | 'inline';

/** A plan together with the state of the history that it was computed from. */
export interface BasedPlan {
  readonly base: DensityBase;
  readonly plan: DensityPlan;
}

/** Runs density passes and counts tokens. All implementations return equal results for equal input. */
export interface Offload {
  /**
   * Plans a density pass on the first `base.length` entries of `history`, which must not change
   * before the call returns its promise.
   *
   * @throws the signal's reason when it aborts, `CompressionStrategyError` when the pass itself failed.
   */
  optimize(
    history: readonly IContent[],
    base: DensityBase,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<BasedPlan>;

  /** Counts the tokens of each entry with the o200k encoding: one number per entry, in their order. */
  countTokens(contents: readonly IContent[], signal?: AbortSignal): Promise<readonly number[]>;

  /** What was done so far. */
  readonly stats: OffloadStats;
}

/** Why work that was meant for a worker ran on the calling thread. */
export interface FallbackEvent {
  readonly task: 'optimize' | 'count';
  /** The failure of the last attempt. */
  readonly error: Error;
  /** Attempts made on workers before. */
  readonly attempts: number;
}

/** What an offload has done so far. Times are milliseconds summed over all tasks. */
export interface OffloadStats {
  /** Tasks that a worker finished. */
  readonly workerTasks: number;
  /** Tasks that ran on the calling thread because that was chosen. */
  readonly inlineTasks: number;
  /** Tasks that ran on the calling thread because workers failed. */
  readonly fallbacks: number;
  /** Attempts on workers that failed. */
  readonly failures: number;
  /** Time that workers spent running tasks. */
  readonly workerMs: number;
  /** Time that tasks waited for a free thread. */
  readonly queueMs: number;
}
