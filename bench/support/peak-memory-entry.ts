// A process that takes a history in, plays one session on it or many short ones on parts of it, and reports the memory that took
// at its peak.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCompactor } from '../../src/index.js';
import type { IContent, OffloadMode, Session } from '../../src/index.js';
import { ENDLESS_CONTEXT } from './sessions.js';
import { checkNoFailures, EDITS_EVERY_TURN, ENTRIES_PER_TURN, TurnPlayer } from './turns.js';
import { collectGarbage } from './used-megabytes.js';

export type PeakMode = Extract<OffloadMode, 'resident' | 'snapshot'>;

/** What the process is told, over its channel. */
export type PeakOrder =
  | { readonly kind: 'take'; readonly entries: readonly IContent[] }
  | {
      readonly kind: 'play';
      readonly mode: PeakMode;
      /** Sessions that are open at the same time, with equal parts of the history. */
      readonly sessions: number;
      /** Entries that come in later, in the first session. */
      readonly following: readonly IContent[];
    };

type PlayOrder = Extract<PeakOrder, { readonly kind: 'play' }>;

/** What it answers once it has played. */
export interface PeakReport {
  /** Most resident memory of the process, less what it had before. */
  readonly addedMegabytes: number;
  /** Entries that all histories have in the end. */
  readonly length: number;
  /** Their tokens. */
  readonly tokens: number;
}

/** What the garbage of taking a history in needs to be given back to the system. */
const REST_MS = 500;

const history: IContent[] = [];

process.on('message', (order: PeakOrder) => {
  if (order.kind === 'take') {
    for (const entry of order.entries) history.push(entry);
    return;
  }
  void play(order).then((report) => process.send?.(report));
});

async function play(order: PlayOrder): Promise<PeakReport> {
  const peak = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const sampler = new Worker(new URL('./peak-memory-sampler-entry.js', import.meta.url), {
    workerData: peak,
  });
  await once(sampler, 'online');
  await collectGarbage();
  await delay(REST_MS);
  await collectGarbage();
  const before = process.memoryUsage.rss();
  peak[0] = before;
  const played = await playSessions(order);
  const addedMegabytes = (peak[0] - before) / 1_000_000;
  await sampler.terminate();
  return { ...played, addedMegabytes };
}

async function playSessions({
  mode,
  sessions: count,
  following,
}: PlayOrder): Promise<Omit<PeakReport, 'addedMegabytes'>> {
  await using compactor = createCompactor({
    offload: mode,
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const players: TurnPlayer[] = [];
  const sessions: Session[] = [];
  const length = Math.ceil(history.length / count);
  for (let start = 0; start < history.length; start += length) {
    const part = history.slice(start, start + length);
    const session = await compactor.createSession({ history: part, ...EDITS_EVERY_TURN });
    await session.history.waitForTokenUpdates();
    const player = new TurnPlayer(session, following);
    await player.window();
    players.push(player);
    sessions.push(session);
  }
  for (let turn = 0; turn * ENTRIES_PER_TURN < following.length; turn += 1) {
    await players[0]?.turn();
  }
  // What the queue of the pool has no room for is counted on this thread, without lines of its own.
  if (mode === 'resident') checkNoFailures(compactor);
  const sum = (valueOf: (session: Session) => number): number =>
    sessions.reduce((total, session) => total + valueOf(session), 0);
  return {
    length: sum((session) => session.history.length),
    tokens: sum((session) => session.history.getTotalTokens()),
  };
}
