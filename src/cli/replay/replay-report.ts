// The data of a replay's report: printed by `--json`, and rendered as text and as a page.

import type {
  CompressionOutcome,
  CompressionStrategyName,
  ContextWindowExceededError,
  ErrorCode,
  FittedEvent,
  HoldReason,
  OffloadMode,
  OffloadStats,
  Speaker,
  SummaryRejectionReason,
} from '../../index.js';
import type { TranscriptFormat } from '../../transcripts.js';
import type { ReclaimRule } from '../measure/attribution.js';
import type { Money, TokenPair } from './money.js';
import type { EventLoopFigures } from './loop-monitor.js';
import type { SummarizerUse } from './summarizer-meter.js';

/** What one rule removed. */
export interface RuleTotal {
  readonly rule: ReclaimRule;
  /** Number of removed things: pairs of call and response, inclusions, results or entries. */
  readonly items: number;
  /** Reclaimed tokens; negative if replacements are longer. */
  readonly tokens: number;
}

/** The outcome of a due compression. Token totals are those of the whole history. */
export interface CompressionReport {
  /** The strategy that was applied, or that failed. */
  readonly strategy: CompressionStrategyName;
  readonly outcome: CompressionOutcome | 'failed';
  /** Why it was held back, or why the model's summary was rejected; `null` otherwise. */
  readonly reason: HoldReason | SummaryRejectionReason | null;
  /** The strategy that failed, if truncation replaced it. */
  readonly fallbackFrom: CompressionStrategyName | null;
  /** Whether the result is a model's summary. */
  readonly isByModel: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The last resort, which makes a history fit the window. Token totals are those of the whole history. */
export type FittingReport = Omit<FittedEvent, 'changes'>;

/** One preflight: the history after it, and what it did. */
export interface PreflightReport {
  /** Tokens of the history after the preflight, and of the agent's current context without edits. */
  readonly tokens: TokenPair;
  /** What the preflight removed, by rule. */
  readonly edits: readonly RuleTotal[];
  /** The compressions that were due. */
  readonly compressions: readonly CompressionReport[];
  /** `null` if the last resort was not needed. */
  readonly fitted: FittingReport | null;
  readonly summarizer: SummarizerUse;
  /** Time that the turn loop waited for the preflight. */
  readonly waitMs: number;
}

/** One model call and the preflight before it. */
export interface ModelCall extends PreflightReport {
  /** Index of the transcript entry with its answer. */
  readonly entry: number;
}

/** Something that was removed or shortened. */
export interface ReclaimedItem {
  readonly rule: ReclaimRule;
  /** Speaker of its entry. */
  readonly speaker: Speaker;
  readonly tool: string | null;
  readonly path: string | null;
  /** Most informative parameter of a call without a path. Content of the session: omitted from redacted JSON. */
  readonly parameter: string | null;
  readonly tokens: number;
  /** The model call before which it was edited, counted from 1; `null` after the last one. */
  readonly modelCall: number | null;
}

/** Equal warnings of the transcript's reader. */
export interface WarningGroup {
  readonly message: string;
  readonly count: number;
  /** The first few places: `line 12`, or a path into the document. */
  readonly places: readonly string[];
}

/** Settings of the replay. `null` stands for the default of the strategy or the library. */
export interface ReplaySettings {
  readonly strategy: CompressionStrategyName;
  readonly threshold: number | null;
  readonly preserveThreshold: number | null;
  readonly topPreserveThreshold: number | null;
  /** Results kept per tool; `null` if recency pruning was off. */
  readonly recencyRetention: number | null;
  /** `null` for strategies without a model. */
  readonly summarizer: SummarizerSettings | null;
  /** The given window, or that of the model that the session names. */
  readonly contextLimit: number;
  readonly offload: OffloadMode;
  readonly threads: number | null;
}

/** The model that wrote summaries. */
export interface SummarizerSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly contextLimit: number;
  readonly fallbackToTruncation: boolean;
}

/** The early end of a replay because the session did not fit the context window. */
export type WindowExceeded = Readonly<
  Pick<ContextWindowExceededError, 'message' | 'projectedTokens' | 'contextLimit'>
>;

/** The early end of a replay because a compression failed. */
export interface CompressionFailure {
  readonly message: string;
  /** Error message of the model's server, which may quote the session; `null` for other failures. */
  readonly said: string | null;
  readonly code: ErrorCode;
  /** Why the model's summary was rejected; `null` if there was none. */
  readonly reason: SummaryRejectionReason | null;
}

/** The removal log. */
export interface RemovalsReport {
  readonly file: string;
  /** Number of entries that this replay recorded. */
  readonly records: number;
}

/** Load of the calling thread. */
export interface MainThreadFigures extends EventLoopFigures {
  /** Time that the turn loop waited in all preflights, in milliseconds. */
  readonly windowWaitMs: number;
  /** The part of it in which the calling thread was busy. */
  readonly windowBusyMs: number;
  readonly longestWindowMs: number;
}

/** The figures of a replay that are sums over its recording. */
export interface ReplayTotals {
  readonly modelCalls: readonly ModelCall[];
  /** The preflight after the last entry, or the one in which the replay stopped. */
  readonly end: PreflightReport;
  /** Tokens of all entries ever added, over all contexts, and of those that are left at the end of each context. */
  readonly tokens: TokenPair;
  /** Input tokens of all model calls. */
  readonly input: TokenPair;
  /** The first model call, or the preflight after the last, that would not have fitted without ctxfold, counted from 1. */
  readonly firstCallOverLimit: number | null;
  /** What was removed, by rule, without rules that removed nothing. Sums up to `tokens.without - tokens.with`. */
  readonly reclaimed: readonly RuleTotal[];
  /** The largest removed items, largest first. */
  readonly largest: readonly ReclaimedItem[];
  /** Sum over all preflights. */
  readonly summarizer: SummarizerUse;
}

/** The result of a replay. */
export interface ReplayReport extends ReplayTotals {
  /** Increased with incompatible changes. */
  readonly reportVersion: 1;
  readonly file: string;
  readonly format: TranscriptFormat;
  /** The directory of relative paths; `null` for the working directory. */
  readonly workspaceRoot: string | null;
  readonly settings: ReplaySettings;
  /** `null` unless the session stopped fitting. */
  readonly exceeded: WindowExceeded | null;
  /** `null` unless a compression failed without a fallback. */
  readonly compressionFailure: CompressionFailure | null;
  /** Entries of the transcript. */
  readonly entries: number;
  /** Played entries; fewer only if `exceeded` or `compressionFailure` is set. */
  readonly playedEntries: number;
  /** The input of all model calls, with cache reads and dollars. */
  readonly money: Money;
  /** `null` without a removal log. */
  readonly removals: RemovalsReport | null;
  readonly mainThread: MainThreadFigures;
  readonly offload: OffloadStats;
  /** Why work intended for a worker ran on the calling thread, and failed compressions. */
  readonly failures: readonly string[];
  readonly warnings: readonly WarningGroup[];
}

/** Returns why the replay stopped early, or `null`. */
export function stopMessage({ compressionFailure, exceeded }: ReplayReport): string | null {
  const stops = [compressionFailure?.message, compressionFailure?.said, exceeded?.message];
  return stops.filter((text) => typeof text === 'string').join(' ') || null;
}
