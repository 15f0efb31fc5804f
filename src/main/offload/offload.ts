// The port through which the main thread has a history's heavy work done, wherever that happens.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import type { CompressionRequest, PlannedCompression } from '../../shared/resident-protocol.js';

/** Where a session's work runs. `auto` chooses per pass. */
export type OffloadMode = 'auto' | 'resident' | 'snapshot' | 'inline';

/** A plan together with the state of the history that it was computed from. */
export interface BasedPlan {
  readonly base: DensityBase;
  readonly plan: DensityPlan;
  /** What takes the place of results that the plan shrinks, in the order of its rows; absent when there are none. */
  readonly texts?: readonly string[];
  /**
   * For entries that the plan edits: index, and the tokens that the entry holds then, or -1 when only
   * a count can tell. @default nothing is known
   */
  readonly tokensAfter?: Int32Array;
}

/** Runs density passes and counts tokens. All implementations return equal results for equal input. */
export interface Offload {
  /**
   * Plans a density pass on the first `base.length` entries of `history`, which must not change
   * before the call returns its promise.
   *
   * @throws the signal's reason when it aborts, `CtxfoldError` when the pass itself failed.
   */
  optimize(
    history: readonly IContent[],
    base: DensityBase,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<BasedPlan>;

  /** Counts the tokens of each entry with the o200k encoding: one number per entry, in their order. */
  countTokens(contents: readonly IContent[], signal?: AbortSignal): Promise<readonly number[]>;

  /**
   * Plans a compression by high-density of the history in the state `base`, where its counts are; to
   * `undefined` when that is nowhere but on the calling thread.
   */
  planCompression?(
    base: DensityBase,
    request: CompressionRequest,
    signal?: AbortSignal,
  ): Promise<PlannedCompression | undefined>;

  /** What was done so far. */
  readonly stats: OffloadStats;

  /** Lets go of what is held for the session. Final. */
  close?(): void;
}

/** Why work that was meant for a worker ran on the calling thread, or why tokens were estimated. */
export interface FallbackEvent {
  /**
   * `open`: a resident history was lost or not opened; the session goes on without it for a while. `send`: an adapter could not
   * compact messages, and sends them as they are.
   */
  readonly task: 'optimize' | 'count' | 'compress' | 'open' | 'send';
  /** The failure of the last attempt; `TOKEN_COUNT_FAILED` when the encoding could not be loaded, and tokens were estimated. */
  readonly error: Error;
  /** Attempts made on workers before. 0: the work was for the calling thread. */
  readonly attempts: number;
}

/** What an offload has done so far. Times are milliseconds summed over all tasks. */
export interface OffloadStats {
  /** Density passes that a resident history answered. */
  readonly residentPasses: number;
  /** Tasks that a worker finished, those passes among them. */
  readonly workerTasks: number;
  /** Tasks that ran on the calling thread, chosen or because workers failed. */
  readonly inlineTasks: number;
  /** Tasks that workers failed at. */
  readonly fallbacks: number;
  /** Attempts on workers that failed. */
  readonly failures: number;
  /** How often a history moved to a worker thread. */
  readonly openings: number;
  /** Time that workers spent running tasks. */
  readonly workerMs: number;
  /** Time that tasks waited for a free thread, or for an answer that was under way. */
  readonly queueMs: number;
  /** Time for which tasks kept the calling thread busy: posting them, or running them there. */
  readonly mainThreadMs: number;
  /** Text that was posted to workers, in UTF-16 units. */
  readonly bytesSent: number;
}
