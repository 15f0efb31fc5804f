// A process that receives a history, plays one session on it or many short ones on parts of it, and reports its peak memory.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCompactor } from '../../src/index.js';
import type { IContent, OffloadMode, Session } from '../../src/index.js';
import { ENDLESS_CONTEXT } from './sessions.js';
import { checkNoFailures, EDITS_EVERY_TURN, ENTRIES_PER_TURN, TurnPlayer } from './turns.js';
import { collectGarbage } from './used-megabytes.js';

export type PeakMode = Extract<OffloadMode, 'resident' | 'snapshot'>;

/** The order, sent over the process's channel. */
export type PeakOrder =
  | { readonly kind: 'take'; readonly entries: readonly IContent[] }
  | {
      readonly kind: 'play';
      readonly mode: PeakMode;
      /** Number of concurrent sessions, with equal parts of the history. */
      readonly sessions: number;
      /** Entries added later, to the first session. */
      readonly following: readonly IContent[];
    };

type PlayOrder = Extract<PeakOrder, { readonly kind: 'play' }>;

/** The reply once it has played. */
export interface PeakReport {
  /** Peak resident memory minus the initial one. */
  readonly addedMegabytes: number;
  /** Total length of all histories at the end. */
  readonly length: number;
  /** Their tokens. */
  readonly tokens: number;
}

/** Time for the system to get back the memory of garbage from receiving a history. */
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
  // In other modes, requests that do not fit the pool's queue are counted on this thread, which counts as failures.
  if (mode === 'resident') checkNoFailures(compactor);
  const sum = (valueOf: (session: Session) => number): number =>
    sessions.reduce((total, session) => total + valueOf(session), 0);
  return {
    length: sum((session) => session.history.length),
    tokens: sum((session) => session.history.getTotalTokens()),
  };
}
