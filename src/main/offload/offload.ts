// The interface to heavy work on a history, wherever it runs.

import type { IContent } from '../../shared/content.js';
import type { DensityBase, DensityConfig } from '../../shared/density.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import type { HistoryWatcher } from '../history-change.js';
import type {
  CompressionRequest,
  PlannedCompression,
  PlannedPass,
} from '../../shared/resident-protocol.js';

/** Where a session's work runs. `auto` chooses per pass. */
export type OffloadMode = 'auto' | 'resident' | 'snapshot' | 'inline';

export const OFFLOAD_MODES: readonly OffloadMode[] = ['auto', 'resident', 'snapshot', 'inline'];

/** A plan, and the tokens of entries after it, unless they are unknown. */
export type OffloadedPlan = PlanWithTexts & Partial<Pick<PlannedPass, 'tokensAfter'>>;

/**
 * Runs density passes and counts tokens. All implementations return equal results for equal input. Implementations that keep state
 * of the history between passes are told about its changes, by `noteChange`.
 */
export interface Offload {
  /** Follows the history. */
  readonly noteChange?: HistoryWatcher;

  /**
   * Plans a density pass on the first `base.length` entries of `history`, which must not change before the promise is returned.
   *
   * @throws the signal's reason if it aborts, `CtxfoldError` if the pass itself failed.
   */
  optimize(
    history: readonly IContent[],
    base: DensityBase,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<OffloadedPlan>;

  /** Counts the tokens of each entry with the o200k encoding, in order. */
  countTokens(contents: readonly IContent[], signal?: AbortSignal): Promise<readonly number[]>;

  /**
   * Plans a high-density compression of the history in the state `base`, on the worker that has its token counts. Resolves to
   * `undefined` if it must be planned on the calling thread.
   */
  planCompression?(
    base: DensityBase,
    request: CompressionRequest,
    signal?: AbortSignal,
  ): Promise<PlannedCompression | undefined>;

  /** Releases what is held for the session. Final. */
  close?(): void;
}

/** Why work meant for a worker ran on the calling thread, or why tokens were estimated. */
export interface FallbackEvent {
  /**
   * `open`: a resident history was lost or could not be opened; the session continues without it for a while. `send`: an
   * adapter could not compact messages and sends them unchanged.
   */
  readonly task: 'optimize' | 'count' | 'compress' | 'open' | 'send';
  /** The last attempt's error; `TOKEN_COUNT_FAILED` if the encoding could not be loaded and tokens were estimated. */
  readonly error: Error;
  /** Attempts made on workers before; 0 if the work was for the calling thread. */
  readonly attempts: number;
}

/** Totals of an offload. Times are milliseconds summed over all tasks. */
export interface OffloadStats {
  /** Density passes answered by a resident history. */
  readonly residentPasses: number;
  /** Tasks completed by workers, including those passes. */
  readonly workerTasks: number;
  /** Tasks run on the calling thread, by choice or because workers failed. */
  readonly inlineTasks: number;
  /** Tasks that workers failed at. */
  readonly fallbacks: number;
  /** Failed attempts on workers. */
  readonly failures: number;
  /** How often a history moved to a worker thread. */
  readonly openings: number;
  /** Run time on workers. */
  readonly workerMs: number;
  /** Time spent waiting for a free thread, or for a pending answer. */
  readonly queueMs: number;
  /** Time for which tasks blocked the calling thread, posting them or running them there. */
  readonly mainThreadMs: number;
  /** Text posted to workers, in UTF-16 units. */
  readonly bytesSent: number;
}
