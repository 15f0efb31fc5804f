// The report about a folder of replays: its data, and its rendering as text.

import { relative } from 'node:path';
import { groupBy, largestFirst, sumOf } from '../measure/aggregate.js';
import { reportHead, sectionsText } from '../terminal/terminal-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';
import { printable } from '../terminal/terminal-text.js';
import {
  formatCount,
  formatNumberOf,
  formatShare,
  marked,
  moreLines,
  shortenStart,
  wrap,
} from '../terminal/text-layout.js';
import { moneySentences, sumInput } from './money.js';
import type { InputSums, TokenPair } from './money.js';
import { renderSessions } from './render-tables.js';
import { stopMessage } from './replay-report.js';
import type { ReplayReport } from './replay-report.js';
import { sumPairs } from './replay-totals.js';
import type { UnreadFile } from './session-files.js';

/** The result of replaying a folder. */
export interface FolderReplayReport {
  /** Increased with incompatible changes. */
  readonly reportVersion: 1;
  /** The given folder. */
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

/** Creates the report of a folder. */
export function folderReport(
  path: string,
  sessions: readonly ReplayReport[],
  unread: readonly UnreadFile[],
): FolderReplayReport {
  return {
    reportVersion: 1,
    path,
    sessions: largestFirst(sessions, ({ input }) => input.without),
    totals: {
      entries: sumOf(sessions, ({ entries }) => entries),
      modelCalls: sumOf(sessions, ({ modelCalls }) => modelCalls.length),
      end: sumPairs(sessions.map(({ end }) => end.tokens)),
      money: sumInput(sessions.map(({ money }) => money)),
      input: sumPairs(sessions.map(({ input }) => input)),
    },
    unread,
  };
}

/** Returns the report as text that ends with a line break. */
export function renderFolder(report: FolderReplayReport, layout: Layout): string {
  const { path, sessions, totals, unread } = report;
  const facts = [
    formatNumberOf(sessions.length, 'session'),
    formatNumberOf(totals.entries, 'entry', 'entries'),
    formatNumberOf(totals.modelCalls, 'model call'),
  ];
  return sectionsText([
    reportHead('replay', path, facts, layout),
    ...(sessions.length === 0 ? [] : [sessionTable(report, layout)]),
    moneySentences(
      totals.money,
      sessions.map(({ money }) => money.price),
    )
      .concat(stopSentences(sessions.map(stopMessage)))
      .flatMap((text) => wrap(text, layout.width)),
    renderUnread(path, unread, layout),
  ]);
}

/** Returns a sentence that tells how many sessions of a folder stopped early; no sentence if none did. */
export function stopSentences(stops: readonly (string | null)[]): readonly string[] {
  const stopped = stops.filter((stop) => stop !== null).length;
  if (stopped === 0) return [];
  return [`${formatNumberOf(stopped, 'session')} stopped early; --json tells why.`];
}

function sessionTable(
  { path, sessions, totals }: FolderReplayReport,
  layout: Layout,
): readonly string[] {
  const row = (calls: number, input: TokenPair, end: TokenPair): readonly string[] => [
    formatCount(calls),
    formatCount(input.without),
    formatCount(input.with),
    formatShare(input.without - input.with, input.without),
    formatShare(end.without - end.with, end.without),
  ];
  const columns = {
    head: ['calls', 'sent without', 'with', 'saved', 'at the end'],
    cellsOf: ({ modelCalls, input, end }: ReplayReport) =>
      row(modelCalls.length, input, end.tokens),
    total: row(totals.modelCalls, totals.input, totals.end),
  };
  return renderSessions(path, sessions, columns, layout);
}

/** Maximum number of files listed per reason. */
const MAX_UNREAD = 20;

/** Renders the files that could not be read, by reason; no lines if there are none. */
export function renderUnread(
  path: string,
  unread: readonly UnreadFile[],
  { width, paint }: Layout,
): readonly string[] {
  if (unread.length === 0) return [];
  const groups = groupBy(unread, ({ reason }: UnreadFile) => printable(reason));
  return [
    paint('yellow', `${formatNumberOf(unread.length, 'file')} left out`),
    ...Array.from(groups).flatMap(([reason, files]) => [
      ...marked('  - ', wrap(reason, width - 4)),
      ...files
        .slice(0, MAX_UNREAD)
        .map(({ file }) =>
          paint('dim', `      ${shortenStart(printable(relative(path, file)), width - 6)}`),
        ),
      ...moreLines(files.length - MAX_UNREAD, 'more', 6, width),
    ]),
  ];
}
