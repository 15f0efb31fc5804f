// What the comparison found out about one tool on one history. Data only.

import type { ThreadTime } from './main-thread.js';

export type PeerFigures = PeerRun | PeerWithoutRun;

interface PeerCase {
  readonly tool: string;
  readonly note: string;
  /** Entries of the history before the first turn. */
  readonly entries: number;
}

/** A run that ended in time. */
export interface PeerRun extends PeerCase {
  readonly outcome: 'measured';
  readonly first: ThreadTime;
  /** Medians of the turns after the first; `undefined` when there was no time for any. */
  readonly repeated: ThreadTime | undefined;
  readonly repeats: number;
  /** Tokens of the history and its first turn, by one exact counter for all tools. */
  readonly tokens: number;
  /** Tokens of what is left of them after the first turn. */
  readonly tokensSent: number;
  /** Calls without their response, and responses without their call, in what the turns left to be sent. */
  readonly brokenPairs: number;
}

/** A first call that was stopped, or not begun because the tool was too slow on a shorter history. */
export interface PeerWithoutRun extends PeerCase {
  readonly outcome: 'over-budget' | 'skipped';
  readonly budgetMs: number;
}
