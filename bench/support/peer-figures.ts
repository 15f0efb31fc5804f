// The results of one tool on one history. Data only.

import type { ThreadTime } from './main-thread.js';

export type PeerFigures = PeerRun | PeerWithoutRun;

interface PeerCase {
  readonly tool: string;
  readonly note: string;
  /** Entries of the history before the first turn. */
  readonly entries: number;
}

/** A run within the time limit. */
export interface PeerRun extends PeerCase {
  readonly outcome: 'measured';
  readonly first: ThreadTime;
  /** Medians of the turns after the first; `undefined` if there was no time for any. */
  readonly repeated: ThreadTime | undefined;
  readonly repeats: number;
  /** Tokens of the history and its first turn, by the same exact counter for all tools. */
  readonly tokens: number;
  /** Tokens left of them after the first turn. */
  readonly tokensSent: number;
  /** Calls without response and responses without call after the turns. */
  readonly brokenPairs: number;
}

/** A first turn that was stopped, or skipped because the tool was too slow on a shorter history. */
export interface PeerWithoutRun extends PeerCase {
  readonly outcome: 'over-budget' | 'skipped';
  readonly budgetMs: number;
}
