// What the replays of a folder come to together, as plain data. Adds and sorts, nothing else.

import { addInput } from './money.js';
import type { InputSums } from './money.js';
import type { ReplayReport, TokenPair } from './replay-report.js';
import type { UnreadFile } from './session-files.js';

/** The whole outcome of the replays of a folder. */
export interface FolderReplayReport {
  /** Grows when the shape changes in a way that readers notice. */
  readonly reportVersion: 1;
  /** The folder that was asked for. */
  readonly path: string;
  /** Most tokens sent first. */
  readonly sessions: readonly ReplayReport[];
  readonly totals: {
    readonly entries: number;
    readonly modelCalls: number;
    /** Tokens of the histories at the end. */
    readonly end: TokenPair;
    /** Input tokens summed over all model calls. */
    readonly input: TokenPair;
    readonly money: InputSums;
  };
  readonly unread: readonly UnreadFile[];
}

/** Puts replays together. */
export function folderReport(
  path: string,
  sessions: readonly ReplayReport[],
  unread: readonly UnreadFile[],
): FolderReplayReport {
  const sum = (of: (report: ReplayReport) => number): number =>
    sessions.reduce((total, report) => total + of(report), 0);
  return {
    reportVersion: 1,
    path,
    sessions: [...sessions].sort((a, b) => b.input.without - a.input.without),
    totals: {
      entries: sum(({ entries }) => entries),
      modelCalls: sum(({ modelCalls }) => modelCalls.length),
      end: {
        without: sum(({ end }) => end.tokens.without),
        with: sum(({ end }) => end.tokens.with),
      },
      money: addInput(sessions.map(({ money }) => money)),
      input: { without: sum(({ input }) => input.without), with: sum(({ input }) => input.with) },
    },
    unread,
  };
}
