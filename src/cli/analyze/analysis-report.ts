// The data of an analysis: printed by `--json` and rendered as tables.

import type { InputSums, Money, TokenPair } from '../replay/money.js';
import type { Speaker } from '../../index.js';
import type { TranscriptFormat } from '../../transcripts.js';
import type { Subject } from '../measure/call-subject.js';
import type { Category, ToolDifference } from '../measure/composition.js';
import type { RuleTotal, WarningGroup } from '../replay/replay-report.js';
import type { UnreadFile } from '../replay/session-files.js';

/** Reasons for which content stays in the history, in the order of reports: named in the table of reasons, and beside an entry. */
export const STAY_REASON_NAMES = {
  'user-text': ['user text', 'from the user'],
  'newest-inclusion': ['newest inclusion of each file', 'newest inclusion'],
  'assistant-text': ['assistant text', 'from the model'],
  thinking: ['reasoning', 'reasoning'],
  'open-call': ['protected: calls without a result yet', 'awaits its result'],
  write: ['writes: the record of what changed', 'a write'],
  'current-read': ['reads of files not written since', 'no later write'],
  'newest-result': ['the newest results of other tools', 'among the newest'],
  'recent-result': ['calls whose result is in use', 'result in use'],
  'small-result': ['calls whose result is too small to prune', 'small result'],
  'waiting-result': ['unused results that leave when that pays', 'leaves when it pays'],
  'shortened-result': ['calls whose old result is an excerpt', 'an excerpt'],
  'pruned-result': ['calls whose old result is a pointer', 'already pruned'],
  'other-call': ['other tools: no write makes them stale', 'no rule applies'],
  media: ['images and other media', 'media'],
  summary: ['summaries', 'summary'],
  other: ['unknown content', 'not examined'],
} as const;

export type StayReason = keyof typeof STAY_REASON_NAMES;

/** All reasons in the order of reports. */
export const STAY_REASONS = Object.keys(STAY_REASON_NAMES) as readonly StayReason[];

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
export interface ToolFigures extends ToolDifference {
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
