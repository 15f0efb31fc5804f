// A process that takes a history in, plays a session on it, and says what memory that took at its peak.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCompactor } from '../../src/index.js';
import type { IContent, OffloadMode } from '../../src/index.js';
import { ENDLESS_CONTEXT } from './sessions.js';
import { checkNoFailures, EDITS_EVERY_TURN, ENTRIES_PER_TURN, TurnPlayer } from './turns.js';
import { collectGarbage } from './used-megabytes.js';

export type PeakMode = Extract<OffloadMode, 'resident' | 'snapshot'>;

/** What the process is told, over its channel. */
export type PeakOrder =
  | { readonly kind: 'take'; readonly entries: readonly IContent[] }
  | { readonly kind: 'play'; readonly mode: PeakMode; readonly following: readonly IContent[] };

/** What it answers once it has played. */
export interface PeakReport {
  /** Most resident memory of the process, less what it had before. */
  readonly addedMegabytes: number;
  /** Entries that the history has in the end. */
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
  void play(order.mode, order.following).then((report) => process.send?.(report));
});

async function play(mode: PeakMode, following: readonly IContent[]): Promise<PeakReport> {
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
  const played = await playSession(mode, following);
  const addedMegabytes = (peak[0] - before) / 1_000_000;
  await sampler.terminate();
  return { ...played, addedMegabytes };
}

async function playSession(
  mode: PeakMode,
  following: readonly IContent[],
): Promise<Omit<PeakReport, 'addedMegabytes'>> {
  await using compactor = createCompactor({
    offload: mode,
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const session = await compactor.createSession({ history, ...EDITS_EVERY_TURN });
  await session.history.waitForTokenUpdates();
  const player = new TurnPlayer(session, following);
  await player.window();
  for (let turn = 0; turn * ENTRIES_PER_TURN < following.length; turn += 1) await player.turn();
  // What the queue of the pool has no room for is counted on this thread, without lines of its own.
  if (mode === 'resident') checkNoFailures(compactor);
  return { length: session.history.length, tokens: session.history.getTotalTokens() };
}
