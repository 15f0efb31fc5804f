// What a replay found out, as plain data: what `--json` prints and what the report for a person is
// made from. Hardly anything is worked out here.

import type {
  CompressionOutcome,
  CompressionStrategyName,
  ErrorCode,
  HoldReason,
  OffloadMode,
  OffloadStats,
  Speaker,
  SummaryRejectionReason,
} from '../../../index.js';
import type { TranscriptFormat } from '../../../transcripts.js';
import type { ReclaimRule } from '../measure/attribution.js';
import type { Money } from './money.js';
import type { EventLoopFigures } from './loop-monitor.js';

/** Tokens of the same session. */
export interface TokenPair {
  /** Everything that was ever said. */
  readonly without: number;
  /** What ctxfold leaves of it. */
  readonly with: number;
}

/** What one rule removed. */
export interface RuleTotal {
  readonly rule: ReclaimRule;
  /** Pairs of call and response, inclusions, results or entries. */
  readonly items: number;
  /** Tokens reclaimed; below 0 when what took the place is longer. */
  readonly tokens: number;
}

/** How a compression went that was due. Token totals are those of the whole history. */
export interface CompressionReport {
  /** The strategy whose result it is, or that failed. */
  readonly strategy: CompressionStrategyName;
  readonly outcome: CompressionOutcome | 'failed';
  /** Why it was held back, or what speaks against the model's summary; `null` for all else. */
  readonly reason: HoldReason | SummaryRejectionReason | null;
  /** The strategy that failed, when truncation took its place. */
  readonly fallbackFrom: CompressionStrategyName | null;
  /** Whether the result is a model's summary. */
  readonly isByModel: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The last resort: a history that did not fit was made to. Token totals are those of the whole history. */
export interface FittingReport {
  readonly summarizedEntries: number;
  readonly droppedEntries: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** What the model that writes summaries was asked. Repeated attempts count as one request. */
export interface SummarizerUse {
  readonly requests: number;
  /** Those of the requests that were not answered. */
  readonly failedRequests: number;
  /** Tokens as the provider tells them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Answers whose tokens the provider does not tell: they are missing from the sums. */
  readonly unmeteredRequests: number;
  /** Time until the answers were there, in milliseconds. */
  readonly waitMs: number;
}

/** One preflight. */
export interface WindowReport {
  /** Tokens of the history that can be sent after it. */
  readonly tokens: TokenPair;
  /** What was removed in it. */
  readonly edits: readonly RuleTotal[];
  /** How each compression went that was due in it. */
  readonly compressions: readonly CompressionReport[];
  /** `null` where the last resort was not needed. */
  readonly fitted: FittingReport | null;
  /** What the model that writes summaries was asked in it. */
  readonly summarizer: SummarizerUse;
  /** Time for which the turn loop waited until it could send. */
  readonly waitMs: number;
}

/** One model call and the window before it. */
export interface ModelCall extends WindowReport {
  /** Index of the transcript's entry that answers it. */
  readonly entry: number;
}

/** Something that was removed or shortened. */
export interface ReclaimedItem {
  readonly rule: ReclaimRule;
  /** Who the entry comes from that it stood in. */
  readonly speaker: Speaker;
  readonly tool: string | null;
  readonly path: string | null;
  /** What tells most about the call when it names no path. Content of the session: not in JSON that hides it. */
  readonly parameter: string | null;
  readonly tokens: number;
  /** The model call before which it happened, counted from 1; `null` after the last one. */
  readonly modelCall: number | null;
}

/** What the reader of the transcript said, equal messages together. */
export interface WarningGroup {
  readonly message: string;
  readonly count: number;
  /** The first few places: `line 12`, or a path into the document. */
  readonly places: readonly string[];
}

/** What the replay was asked to do; `null` where the default of the strategy or library applied. */
export interface ReplaySettings {
  /** What was given, or the window of the model that the session names. */
  readonly contextLimit: number;
  readonly strategy: string;
  readonly threshold: number | null;
  readonly preserveThreshold: number | null;
  readonly topPreserveThreshold: number | null;
  /** Results kept per tool; `null` when recency pruning was off. */
  readonly recencyRetention: number | null;
  readonly offload: OffloadMode;
  readonly threads: number | null;
  /** `null` for strategies that ask no model. */
  readonly summarizer: SummarizerSettings | null;
}

/** The model that wrote summaries. */
export interface SummarizerSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly contextLimit: number;
  readonly fallbackToTruncation: boolean;
}

/** Where a replay ended before its time, because the session did not fit the context window. */
export interface WindowExceeded {
  readonly message: string;
  readonly projectedTokens: number;
  readonly contextLimit: number;
}

/** Where a replay ended before its time, because a compression failed. */
export interface CompressionFailure {
  readonly message: string;
  /** What the model's server said, which may quote the session; `null` when it was not that. */
  readonly said: string | null;
  readonly code: ErrorCode;
  /** What speaks against the model's summary; `null` when there is none. */
  readonly reason: SummaryRejectionReason | null;
}

/** The file that keeps what edits took away. */
export interface RemovalsReport {
  readonly file: string;
  /** Entries that this replay put on record. */
  readonly records: number;
}

/** How the calling thread fared. Times are milliseconds. */
export interface MainThreadFigures extends EventLoopFigures {
  /** Time that the turn loop waited in all preflights. */
  readonly windowWaitMs: number;
  /** Time of these in which the calling thread was busy. */
  readonly windowBusyMs: number;
  readonly longestWindowMs: number;
}

/** The whole outcome of a replay. */
export interface ReplayReport {
  /** Grows when the shape changes in a way that readers notice. */
  readonly reportVersion: 1;
  readonly file: string;
  readonly format: TranscriptFormat;
  /** The directory that relative paths were resolved against; `null`: the working directory. */
  readonly workspaceRoot: string | null;
  readonly settings: ReplaySettings;
  /** `null` unless the session stopped fitting. */
  readonly exceeded: WindowExceeded | null;
  /** `null` unless a compression failed, and nothing took its place. */
  readonly compressionFailure: CompressionFailure | null;
  /** Entries of the transcript. */
  readonly entries: number;
  /** Entries that were played: fewer only when `exceeded` or `compressionFailure` is set. */
  readonly playedEntries: number;
  readonly modelCalls: readonly ModelCall[];
  /** The window after the last entry, or the one in which the replay stopped. */
  readonly end: WindowReport;
  /** Input tokens summed over all model calls. */
  readonly input: TokenPair;
  /** The same with what a cache answered, and dollars: with and without, and by rule. */
  readonly money: Money;
  /** The first model call that would not have fitted the window without ctxfold, counted from 1; the one after the last counts too. */
  readonly firstCallOverLimit: number | null;
  /** What was removed, by rule; rules that removed nothing are left out. The tokens sum up to `end.tokens.without - end.tokens.with`. */
  readonly reclaimed: readonly RuleTotal[];
  /** The largest things that were removed, largest first. */
  readonly largest: readonly ReclaimedItem[];
  /** What the model that writes summaries was asked in all windows. */
  readonly summarizer: SummarizerUse;
  /** `null` when nothing was to be kept. */
  readonly removals: RemovalsReport | null;
  readonly mainThread: MainThreadFigures;
  readonly offload: OffloadStats;
  /** Why work that was meant for a worker ran on the calling thread, and compressions that failed. */
  readonly failures: readonly string[];
  readonly warnings: readonly WarningGroup[];
}

/** Returns why the replay ended before its time, or `null`. */
export function stopMessage({ compressionFailure, exceeded }: ReplayReport): string | null {
  const stops = [compressionFailure?.message, compressionFailure?.said, exceeded?.message];
  return stops.filter((text) => typeof text === 'string').join(' ') || null;
}
