// The events of a session, and the reports of a preflight's steps. Types only.

import type { IContent } from '../../shared/content.js';
import type { DensityResultMetadata } from '../../shared/density.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import type { CtxfoldError } from '../../shared/errors.js';
import type { EntryChange } from '../history-change.js';
import type { FallbackEvent } from '../offload/offload.js';
import type { StateDivergence } from '../state/resume.js';
import type { CompressionStrategyName } from '../strategies/strategy.js';
import type { TokenSource } from './context-gauge.js';
import type { LandingReason } from './edit-options.js';

/**
 * Why a request read less from the cache than the previous one had left there. `expired`: the cache lifetime has passed.
 * `edit`: an edit of the session rewrote what was sent. `changed-request`: neither; tools, system text or something else in the
 * request changed, or the provider evicted it.
 */
export type CacheMissCause = 'edit' | 'expired' | 'changed-request';

/** A request read much less from the provider's cache than it could have. */
export interface CacheMissedEvent {
  /** Input tokens of the previous request, which the cache should hold; at most those of this request. In the model's own tokens. */
  readonly expectedTokens: number;
  readonly readTokens: number;
  readonly cause: CacheMissCause;
  /** The reason as the provider reported it. */
  readonly reason?: string;
}

/** A thrown value, which may be anything. */
export interface Failure {
  readonly thrown: unknown;
}

/** Why no automatic compression may run now. */
export type HoldReason =
  /** The last compression did not get below the threshold, and the history has not grown much since. */
  | 'no-growth'
  /** The last compressions failed; the next attempt comes after a pause. */
  | 'cooling-down'
  /** A summary is being made in the background, and the history fits without it. */
  | 'under-way';

/** A density pass that changed something. Token totals are those of the whole history. */
export interface PrunedEvent {
  readonly metadata: DensityResultMetadata;
  /** Why the edit landed now. */
  readonly reason: LandingReason;
  /** Which rule removed what, by entry and block before the edit. Empty if only reasoning was removed. */
  readonly edits: readonly RuleEdit[];
  /** All changed entries, including those that only lost reasoning. */
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * The outcome of a compression. Unless `applied`, the history is unchanged. `applied`: the list was replaced, and any entry may
 * have moved. `rejected`: the result was not smaller. `stale`: the history was rewritten meanwhile. `held`: it was due but did
 * not run; see `reason`.
 */
export type CompressionOutcome = 'applied' | 'rejected' | 'stale' | 'held';

/** A compression that was due. Token totals are those of the whole history. */
export interface CompressedEvent {
  /** The strategy that produced the result. */
  readonly strategy: CompressionStrategyName;
  readonly outcome: CompressionOutcome;
  readonly reason?: HoldReason;
  /**
   * The configured strategy and its failure in this preflight, if another was used instead. Absent if it was not tried because it is
   * paused after failures.
   */
  readonly fallbackFrom?: { readonly strategy: CompressionStrategyName; readonly error: Error };
  /** Whether it was made in the background. @default false */
  readonly isAhead?: boolean;
  /**
   * `false` with strategy `provider`: the provider had compacted at its own threshold, and the entries in front of its block
   * were dropped.
   */
  readonly llmCallMade: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly entriesBefore: number;
  readonly entriesAfter: number;
}

/** The last resort for a history that did not fit the context window. */
export interface FittedEvent {
  /** Entries whose tool results were summarized. */
  readonly summarizedEntries: number;
  readonly droppedEntries: number;
  /** All changed entries, including those that only lost reasoning. */
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * An edit that landed removed tool results or file contents. For hosts that track what the model has read, for instance to
 * answer a repeated read with a hint: they must forget what is listed here.
 */
export interface RemovedEvent {
  readonly step: 'pruned' | 'compressed' | 'fitted';
  /**
   * Absolute paths of files whose text was removed with a read or an inclusion, without duplicates. Another read, inclusion or
   * write of a file may still be present, and often is, if it made this one obsolete: forgetting a file costs one more read,
   * remembering a removed one causes a blind edit. Reads whose parameters do not name their files are in `callIds` only.
   */
  readonly paths: readonly string[];
  /**
   * Calls whose result was removed or replaced by something shorter, without duplicates. A call is not listed again when its
   * stand-in is removed.
   */
  readonly callIds: readonly string[];
}

/** Usage numbers reported by a provider that cannot be right: negative, not a number, or more cache reads than input. */
export interface OddUsage {
  readonly inputTokens: unknown;
  readonly cacheReadTokens: unknown;
}

/** The events of a session. */
export interface SessionEvents {
  pruned: [PrunedEvent];
  compressed: [CompressedEvent];
  /**
   * A compression failed and the preflight goes on: one in the background, one over the hard limit, where the history is made to fit
   * without it, or one whose summary was unfit. Any other failure rejects the preflight that waits for it.
   */
  compressionFailed: [{ readonly error: Error }];
  /**
   * The removal log cannot be written: what edits would remove stays, as long as the history fits the window. Emitted once, and
   * again if writing fails after it has worked.
   */
  recordingFailed: [{ readonly error: Error }];
  fitted: [FittedEvent];
  /** Follows one of the above; computed only if there is a listener. */
  removed: [RemovedEvent];
  /**
   * According to the provider's report, a request read much less from its cache than it could have. For models that cache
   * implicitly, emitted only after two such requests in a row, or with the provider's reason.
   */
  cacheMissed: [CacheMissedEvent];
  /** A provider reported usage that cannot be right; nothing was learned from it. */
  oddUsage: [OddUsage];
  /**
   * The history differs from the one that the state is of, or not all of its edits could be repeated: the session continues
   * from the longest common prefix.
   */
  stateDiverged: [StateDivergence];
  /** A state was refused, with the code `STATE_TOO_NEW` or `STATE_BROKEN`: the session started without it. */
  stateRefused: [{ readonly error: CtxfoldError }];
  /** Work meant for a worker ran on the calling thread because workers failed; or an adapter sends messages unchanged. */
  fallback: [FallbackEvent];
}

/** The names of a session's events. */
export const SESSION_EVENTS: Readonly<Record<keyof SessionEvents, true>> = {
  pruned: true,
  compressed: true,
  compressionFailed: true,
  recordingFailed: true,
  fitted: true,
  removed: true,
  cacheMissed: true,
  oddUsage: true,
  stateDiverged: true,
  stateRefused: true,
  fallback: true,
};

/** The result of a preflight. */
export interface PreflightResult {
  /** The density pass, or `null` if it found nothing or was not needed. */
  readonly pruned: PrunedEvent | null;
  /** The compression that was due; `null` if none was, or if it failed as told by `compressionFailed`. */
  readonly compressed: CompressedEvent | null;
  /** The last resort, or `null` if the history fits without it. */
  readonly fitted: FittedEvent | null;
  /** Tokens of the history as it can be sent now, counted by the session's tokenizer. */
  readonly totalTokens: number;
  /** Whether `totalTokens` is counted or estimated; `session.contextUsage()` gives the model's own tokens. */
  readonly tokenSource: Exclude<TokenSource, 'reported'>;
}

/** How a step ended. */
export interface StepEnd<Event> {
  /** When it began, in milliseconds since the epoch. */
  readonly startTimeMs: number;
  readonly durationMs: number;
  /** Whether the caller's signal had aborted. */
  readonly isAborted: boolean;
  /** The error with which recording began to fail in this step. */
  readonly recordingFailure?: Error | undefined;
  /** Absent if the step failed and nothing has landed. */
  readonly event?: Event | undefined;
  /** What failed; next to an event, it failed after the edit had landed. */
  readonly failure?: Failure | undefined;
}

/** The report of one step. */
export type StepReport =
  | ({
      readonly step: 'pruned';
      readonly strategy: CompressionStrategyName;
    } & StepEnd<PrunedEvent | null>)
  | ({
      readonly step: 'compressed';
      /** The configured strategy; absent if the compression was held. */
      readonly strategy?: CompressionStrategyName;
      /** The entries before it. */
      readonly former: readonly IContent[];
      /** For an automatic compression that ran: whether the history is below the threshold now. */
      readonly isUnderThreshold?: boolean;
    } & StepEnd<CompressedEvent>)
  | ({ readonly step: 'fitted' } & StepEnd<FittedEvent | null>)
  /** A compression failed, and the preflight continues. */
  | { readonly step: 'none'; readonly compressionFailure: Error };

/** A running sequence of steps. Requesting the next report resumes it. */
export type Steps<Result> = AsyncGenerator<StepReport, Result, void>;
