// What an analysis found out, as plain data: what `--json` prints and what the tables for a person are
// made from. Nothing is worked out here.

import type { InputSums, Money } from '../replay/money.js';
import type { Speaker } from '../../../index.js';
import type { TranscriptFormat } from '../../../transcripts.js';
import type { ReclaimRule } from '../measure/attribution.js';
import type { Category } from '../measure/composition.js';
import type { TokenPair, WarningGroup } from '../replay/replay-report.js';
import type { UnreadFile } from '../replay/session-files.js';

/** Why something stays, in the order in which reports list it. */
export const STAY_REASONS = [
  'user-text',
  'newest-inclusion',
  'assistant-text',
  'thinking',
  'open-call',
  'write',
  'current-read',
  'newest-result',
  'recent-result',
  'small-result',
  'waiting-result',
  'shortened-result',
  'pruned-result',
  'other-call',
  'media',
  'summary',
  'other',
] as const;

export type StayReason = (typeof STAY_REASONS)[number];

/** What something is about, as far as it is known. */
export interface Subject {
  readonly path: string | null;
  /** What tells most where there is no path. Content of the session: not in JSON that hides it. */
  readonly excerpt: string | null;
}

/** What one category comes to. */
export interface CategoryFigures {
  readonly category: Category;
  readonly blocks: number;
  readonly tokens: number;
  /** Tokens of it that are gone at the end; below 0 where summaries took the place of other things. */
  readonly reclaimedTokens: number;
}

/** One result of a tool. */
export interface ResultFigures extends Subject {
  readonly tokens: number;
}

/** What one tool comes to. */
export interface ToolFigures {
  readonly tool: string;
  readonly calls: number;
  readonly callTokens: number;
  readonly resultTokens: number;
  /** Tokens of its calls that are gone at the end; never more than these have. */
  readonly reclaimedCallTokens: number;
  /** The same of its results. */
  readonly reclaimedResultTokens: number;
  /** `null` when no result is there. */
  readonly largestResult: ResultFigures | null;
}

/** Something that a rule reclaimed. */
export interface RuleExample extends Subject {
  readonly tool: string | null;
  readonly tokens: number;
}

/** What one rule reclaimed, with the largest examples. */
export interface RuleReport {
  readonly rule: ReclaimRule;
  /** Pairs of call and response, inclusions, results or entries. */
  readonly items: number;
  readonly tokens: number;
  readonly examples: readonly RuleExample[];
}

/** What stays for one reason. */
export interface StayFigures {
  readonly reason: StayReason;
  /** Calls with their results, or blocks. */
  readonly items: number;
  readonly tokens: number;
}

/** An entry that stays. */
export interface StayingEntry extends Subject {
  /** Index in the transcript's entries; `null` for what a compression put in. */
  readonly entry: number | null;
  readonly speaker: Speaker;
  /** That of the entry's largest block, as `tool` and `reason` are. */
  readonly category: Category;
  readonly tool: string | null;
  readonly tokens: number;
  readonly reason: StayReason;
}

/** The sums that one session has, and a folder of them. */
export interface AnalysisFigures {
  readonly entries: number;
  readonly modelCalls: number;
  /** Tokens of all that was said, and of what was left of it. */
  readonly tokens: TokenPair;
  /** Tokens that all model calls were sent. */
  readonly input: TokenPair;
  /** The same with what a cache answered, and dollars: with and without, and by rule. */
  readonly money: InputSums;
  readonly categories: readonly CategoryFigures[];
  /** Most tokens of results first. */
  readonly tools: readonly ToolFigures[];
  readonly rules: readonly RuleReport[];
  /** What is left, by reason; reasons that keep nothing are left out. The tokens sum up to `tokens.with`. */
  readonly stays: readonly StayFigures[];
}

/** What one history consists of. */
export interface HistoryAnalysis extends AnalysisFigures {
  readonly money: Money;
  /** Tokens of the history at the end: of the last context, where the agent had compacted. */
  readonly end: TokenPair;
  /** What was given, or the window of the model that the session names. */
  readonly contextLimit: number;
  /** Why the session could be played no further, or `null`. */
  readonly stop: string | null;
  /** The largest entries that stay, largest first. */
  readonly largestStaying: readonly StayingEntry[];
}

/** One session that was analyzed. */
export interface SessionAnalysis extends HistoryAnalysis {
  readonly file: string;
  readonly format: TranscriptFormat;
  readonly warnings: readonly WarningGroup[];
}

/** The whole outcome of an analysis. */
export interface AnalysisReport {
  /** Grows when the shape changes in a way that readers notice. */
  readonly reportVersion: 1;
  /** The file or folder that was asked for. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly settings: {
    /** `null`: by the model of each session. */
    readonly contextLimit: number | null;
    /** Results kept per tool; `null` when recency pruning was off. */
    readonly recencyRetention: number | null;
  };
  /** Most tokens first. */
  readonly sessions: readonly SessionAnalysis[];
  /** The sums over all sessions. */
  readonly totals: AnalysisFigures;
  readonly unread: readonly UnreadFile[];
}
