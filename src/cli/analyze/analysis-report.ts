// The data of an analysis: printed by `--json` and rendered as tables.

import type { InputSums, Money, TokenPair } from '../replay/money.js';
import type { Speaker } from '../../index.js';
import type { TranscriptFormat } from '../../transcripts.js';
import type { Subject } from '../measure/call-subject.js';
import type { Category, ToolShare } from '../measure/composition.js';
import type { RuleTotal, WarningGroup } from '../replay/replay-report.js';
import type { UnreadFile } from '../replay/session-files.js';

/** Reasons for which content stays in the history, in the order of reports. */
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

/** Figures of one category. */
export interface CategoryFigures {
  readonly category: Category;
  readonly blocks: number;
  readonly tokens: number;
  /** Tokens of this category that are gone at the end; negative if it grew, as summaries do that replace other content. */
  readonly reclaimedTokens: number;
}

/** One result of a tool. */
export interface ResultFigures extends Subject {
  readonly tokens: number;
}

/** Figures of one tool. */
export interface ToolFigures extends ToolShare {
  readonly tool: string;
  /** Tokens of the tool's calls that are gone at the end; at most `callTokens`. */
  readonly reclaimedCallTokens: number;
  /** Tokens of its results that are gone at the end; at most `resultTokens`. */
  readonly reclaimedResultTokens: number;
  /** `null` without results. */
  readonly largestResult: ResultFigures | null;
}

/** Something that a rule reclaimed. */
export interface RuleExample extends Subject {
  readonly tool: string | null;
  readonly tokens: number;
}

/** What one rule reclaimed, with the largest examples. */
export interface RuleReport extends RuleTotal {
  readonly examples: readonly RuleExample[];
}

/** The content that stays for one reason. */
export interface StayFigures {
  readonly reason: StayReason;
  /** Calls with their results, or blocks. */
  readonly items: number;
  readonly tokens: number;
}

/** An entry that stays. */
export interface StayingEntry extends Subject {
  /** Index in the transcript; `null` for entries that a compression inserted. */
  readonly entry: number | null;
  readonly speaker: Speaker;
  /** Category of the entry's largest block. `tool` and `reason` describe the same block. */
  readonly category: Category;
  readonly tool: string | null;
  readonly tokens: number;
  readonly reason: StayReason;
}

/** Figures of a session, or sums over a folder. */
export interface AnalysisFigures {
  readonly entries: number;
  readonly modelCalls: number;
  /** Tokens of all entries ever added, over all contexts, and of those that are left at the end of each context. */
  readonly tokens: TokenPair;
  /** Input tokens of all model calls. */
  readonly input: TokenPair;
  /** Input of all model calls with cache reads and dollars. */
  readonly money: InputSums;
  readonly categories: readonly CategoryFigures[];
  /** Most tokens of results first. */
  readonly tools: readonly ToolFigures[];
  readonly rules: readonly RuleReport[];
  /** Remaining content by reason, without reasons that keep nothing. The tokens sum up to `tokens.with`. */
  readonly stays: readonly StayFigures[];
}

/** The analysis of one session. */
export interface SessionAnalysis extends AnalysisFigures {
  readonly file: string;
  readonly format: TranscriptFormat;
  readonly money: Money;
  /** Tokens at the end of the history, or of the last context if the agent compacted it. */
  readonly end: TokenPair;
  /** The given window, or that of the model that the session names. */
  readonly contextLimit: number;
  /** Why the replay stopped early, or `null`. */
  readonly stop: string | null;
  /** The largest entries that stay, largest first. */
  readonly largestStaying: readonly StayingEntry[];
  readonly warnings: readonly WarningGroup[];
}

/** The result of `analyze`. */
export interface AnalysisReport {
  /** Increased with incompatible changes. */
  readonly reportVersion: 1;
  /** The given file or folder. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly settings: {
    /** `null` if each session's model decides. */
    readonly contextLimit: number | null;
    /** Results kept per tool; `null` if recency pruning was off. */
    readonly recencyRetention: number | null;
  };
  /** Most tokens first. */
  readonly sessions: readonly SessionAnalysis[];
  /** Sums over all sessions. */
  readonly totals: AnalysisFigures;
  readonly unread: readonly UnreadFile[];
}
