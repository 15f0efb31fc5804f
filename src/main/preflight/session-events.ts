// What a session tells whoever listens to it, and whoever asked for a preflight.

import type { DensityResultMetadata } from '../../shared/density.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import type { EntryChange } from '../history-change.js';
import type { FallbackEvent } from '../offload/offload.js';
import type { CtxfoldError } from '../../shared/errors.js';
import type { StateDivergence } from '../state/resume.js';
import type { CompressionStrategyName } from '../strategies/strategy.js';
import type { CacheMissedEvent } from './cache-misses.js';
import type { TokenSource } from './context-gauge.js';
import type { LandingReason } from './edit-policy.js';
import type { HoldReason } from './progress-guard.js';

/** A density pass that changed something. Token totals are those of the whole history. */
export interface PrunedEvent {
  readonly metadata: DensityResultMetadata;
  /** Why it landed now and was not held any longer. */
  readonly reason: LandingReason;
  /**
   * Which rule took what: entries and blocks as they were before. Empty when a strategy of your own found the edit, for
   * nobody knows its rules.
   */
  readonly edits: readonly RuleEdit[];
  /** Every entry that is not what it was, also those that only lost reasoning. */
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * How a compression ended. Unless it was applied, the history is as it was.
 * `applied`: another list has taken its place, and no entry of it need be where it was.
 * `rejected`: the result was not smaller. `stale`: the history was rewritten meanwhile.
 * `held`: it was due, but did not run; `reason` says why.
 */
export type CompressionOutcome = 'applied' | 'rejected' | 'stale' | 'held';

/** A compression that was due. Token totals are those of the whole history. */
export interface CompressedEvent {
  /** The strategy whose result this is. */
  readonly strategy: CompressionStrategyName;
  readonly outcome: CompressionOutcome;
  readonly reason?: HoldReason;
  /** The configured strategy's failure, when another took its place. */
  readonly fallbackFrom?: { readonly strategy: CompressionStrategyName; readonly error: Error };
  /** Whether it was made in the background, and has landed now. @default false */
  readonly isAhead?: boolean;
  /** By `provider` without a call: it has compacted at a threshold of its own, and what stands before its block was dropped. */
  readonly llmCallMade: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly entriesBefore: number;
  readonly entriesAfter: number;
}

/** The last resort of a history that did not fit the context window. */
export interface FittedEvent {
  /** Entries whose tool results were summarized. */
  readonly summarizedEntries: number;
  readonly droppedEntries: number;
  /** Every entry that is not what it was, also those that only lost reasoning. */
  readonly changes: readonly EntryChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * An edit took results of tools or the text of files, and stands. For hosts that keep account of what the
 * model has read, as to answer a second read with a hint: what is named here has to be forgotten there.
 */
export interface RemovedEvent {
  readonly step: 'pruned' | 'compressed' | 'fitted';
  /**
   * Files whose text went with a read or an inclusion, absolute, each once. Another read, inclusion or
   * write of the same file may still stand, and often does when a newer one made this one superfluous:
   * to forget a file costs one more read, to remember one that is gone costs an edit made blindly. Reads
   * whose parameters do not name their files are in `callIds` only.
   */
  readonly paths: readonly string[];
  /**
   * Calls of any tool whose result left, or gave way to something shorter, each once. No call is told of
   * again when what took that place goes as well.
   */
  readonly callIds: readonly string[];
}

/** What a provider has reported of the input of a request, and cannot be: below 0, no number, or more from the cache than was sent. */
export interface OddUsage {
  readonly inputTokens: unknown;
  readonly cacheReadTokens: unknown;
}

/** The events of a session. */
export interface SessionEvents {
  pruned: [PrunedEvent];
  compressed: [CompressedEvent];
  /** A compression failed over the hard limit; the history is made to fit without it. */
  compressionFailed: [{ readonly error: Error }];
  /**
   * The removal log cannot be written: what edits would take away stays, as long as the history fits the
   * window. Told once, and again when writing fails after it has worked.
   */
  recordingFailed: [{ readonly error: Error }];
  fitted: [FittedEvent];
  /** Follows one of the above; nothing is looked for unless somebody listens. */
  removed: [RemovedEvent];
  /**
   * By what the provider reported, a request read much less from its cache than it could have. Told of models that cache by
   * themselves only after two such requests in a row, or with the provider's reason.
   */
  cacheMissed: [CacheMissedEvent];
  /** A provider has reported usage that cannot be; nothing was learned from it. */
  oddUsage: [OddUsage];
  /**
   * The history is not the one that the state is of, or not all of what landed in it can be done again: the session goes on from
   * the longest beginning that is the same.
   */
  stateDiverged: [StateDivergence];
  /** A state was not taken, with the code `STATE_TOO_NEW` or `STATE_BROKEN`: the session has started without it. */
  stateRefused: [{ readonly error: CtxfoldError }];
  /** Work meant for a worker ran on the calling thread, because workers failed; or an adapter sends messages as they were given. */
  fallback: [FallbackEvent];
}

/** What a preflight did. */
export interface PreflightResult {
  /** The density pass, or `null` when it found nothing or was not needed. */
  readonly pruned: PrunedEvent | null;
  /** The compression that was due, or `null`. */
  readonly compressed: CompressedEvent | null;
  /** The last resort, or `null` when the history fits without it. */
  readonly fitted: FittedEvent | null;
  /** Tokens of the history that can be sent now, as the session's tokenizer counts them. */
  readonly totalTokens: number;
  /** How these were found; `session.contextUsage()` has them in the model's own tokens. */
  readonly tokenSource: Exclude<TokenSource, 'reported'>;
}
