// What a replay found out, as plain data: what `--json` prints and what the report for a person is
// made from. Nothing is worked out here.

import type {
  CompressionOutcome,
  OffloadMode,
  OffloadStats,
  Speaker,
  TranscriptFormat,
} from '../../index.js';
import type { ReclaimRule } from './attribution.js';
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

/** One pre-send window. */
export interface WindowReport {
  /** Tokens of the history that can be sent after it. */
  readonly tokens: TokenPair;
  /** What was removed in it. */
  readonly edits: readonly RuleTotal[];
  /** How each compression ended that was due in it. */
  readonly compressions: readonly CompressionOutcome[];
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
  /** What tells most about the call when it names no path. Content of the session: not in JSON. */
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
  readonly contextLimit: number;
  readonly strategy: string;
  readonly threshold: number | null;
  readonly preserveThreshold: number | null;
  /** Results kept per tool; `null` when recency pruning was off. */
  readonly recencyRetention: number | null;
  readonly offload: OffloadMode;
  readonly threads: number | null;
}

/** Where a replay ended before its time, because the session did not fit the context window. */
export interface WindowExceeded {
  readonly message: string;
  readonly projectedTokens: number;
  readonly contextLimit: number;
}

/** How the calling thread fared. Times are milliseconds. */
export interface MainThreadFigures extends EventLoopFigures {
  /** Time that the turn loop waited in all pre-send windows. */
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
  /** `null` when the whole transcript was played. */
  readonly exceeded: WindowExceeded | null;
  /** Entries of the transcript. */
  readonly entries: number;
  /** Entries that were played: fewer only when `exceeded` is set. */
  readonly playedEntries: number;
  readonly modelCalls: readonly ModelCall[];
  /** The window after the last entry, or the one in which the replay stopped. */
  readonly end: WindowReport;
  /** Input tokens summed over all model calls. */
  readonly input: TokenPair;
  /** The first model call that would not have fitted the window without ctxfold, counted from 1; the one after the last counts too. */
  readonly firstCallOverLimit: number | null;
  /** What was removed, by rule; rules that removed nothing are left out. The tokens sum up to `end.tokens.without - end.tokens.with`. */
  readonly reclaimed: readonly RuleTotal[];
  /** The largest things that were removed, largest first. */
  readonly largest: readonly ReclaimedItem[];
  readonly mainThread: MainThreadFigures;
  readonly offload: OffloadStats;
  /** Why work that was meant for a worker ran on the calling thread, and compressions that failed. */
  readonly failures: readonly string[];
  readonly warnings: readonly WarningGroup[];
}

/** The document that `--json` prints: of the session it holds tool names, paths and sizes only. */
export type JsonReport = Omit<ReplayReport, 'largest'> & {
  readonly largest: readonly Omit<ReclaimedItem, 'parameter'>[];
};

/** Returns the report without content of the session. */
export function toJsonReport(report: ReplayReport): JsonReport {
  return {
    ...report,
    largest: report.largest.map(({ rule, speaker, tool, path, tokens, modelCall }) => {
      return { rule, speaker, tool, path, tokens, modelCall };
    }),
  };
}
