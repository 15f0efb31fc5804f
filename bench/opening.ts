// Restoring a history: how long it keeps the main thread busy, relative to one post of the history; and how long until every
// entry is counted, relative to counting inline. Busy is CPU time where the system reports it.

import { MessageChannel } from 'node:worker_threads';
import { createCompactor } from '../src/index.js';
import type { Compactor, IContent } from '../src/index.js';
import { InlineOffload } from '../src/main/offload/inline.js';
import { countBatches } from '../src/main/offload/posted-entry.js';
import { TokenLedger } from '../src/main/tokens/token-ledger.js';
import { assertIngestible } from '../src/shared/ingestion.js';
import { check } from './support/check.js';
import { processorMs, timeThreadAlone } from './support/main-thread.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, historyOf, runsFor } from './support/sessions.js';
import { median } from './support/timing.js';
import { checkNoFailures } from './support/turns.js';

const SCOPE = 'opening';
/** Shorter histories give no meaningful ratios. */
const MIN_GOAL_ENTRIES = 10_000;
/** A session that starts the threads. */
const FIRST_ENTRIES = 512;
/** The threads count one history together. */
const THREADS = 2;
const BUSY_GOAL = 2;
const WALL_GOAL = 0.55;

export async function measureOpening({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  const inline = new InlineOffload();
  const options = {
    offload: 'resident',
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
    threads: THREADS,
  } as const;
  for (const entries of sizes) {
    const history = historyOf(entries);
    const runs = runsFor(entries, 9);
    const posts: number[] = [];
    const counts: number[] = [];
    const countsBusy: number[] = [];
    const busy: number[] = [];
    const wall: number[] = [];
    const all: number[] = [];
    const parts: number[] = [];
    // Runs alternate, because other programs come and go. The first run starts the threads and warms up the compiler.
    for (let run = 0; run <= runs; run += 1) {
      const { busyMs: postMs } = await timeThreadAlone(() => Promise.resolve(post(history)));
      const { busyMs: partsMs } = await timeThreadAlone(() => Promise.resolve(takeApart(history)));
      let expected: readonly number[] = [];
      const count = await timeThreadAlone(async () => {
        expected = await inline.countTokens(history);
      });
      let total = 0;
      // A compactor per run, because reopening a closed session resumes it. All of its threads have counted by then.
      await using compactor = createCompactor(options);
      for (let thread = 0; thread < compactor.status().threads; thread += 1) {
        await openSession(compactor, history.slice(0, FIRST_ENTRIES));
      }
      let allMs = 0;
      const opening = await timeThreadAlone(async () => {
        allMs = await processorMs(async () => {
          total = await openSession(compactor, history);
        });
      });
      check(
        total === expected.reduce((sum, tokens) => sum + tokens, 0),
        'the total is another one',
      );
      checkNoFailures(compactor);
      if (run === 0) continue;
      posts.push(postMs);
      parts.push(partsMs);
      counts.push(count.wallMs);
      countsBusy.push(count.busyMs);
      all.push(allMs);
      busy.push(opening.busyMs);
      wall.push(opening.wallMs);
    }
    const add = (name: string, values: readonly number[]): number => {
      const value = median(values);
      measurements.push({ scope: SCOPE, name, entries, value, unit: 'ms', runs });
      return value;
    };
    const postMs = add('one post of the history', posts);
    const countMs = add('a count inline, wall', counts);
    add('a count inline, busy', countsBusy);
    const busyMs = add('opening, busy', busy);
    add('checking, posts and ledger by themselves, busy', parts);
    const wallMs = add('opening until all is counted, wall', wall);
    // With several cores, wall time cannot be below a share of this.
    add('opening until all is counted, processor time of all threads', all);
    if (entries < MIN_GOAL_ENTRIES) continue;
    const size = entries.toLocaleString('en');
    goals.push(
      { name: `opening, busy, of one post (${size})`, value: busyMs / postMs, limit: BUSY_GOAL },
      {
        name: `opening, wall, of a count inline (${size})`,
        value: wallMs / countMs,
        limit: WALL_GOAL,
      },
    );
  }
  return { measurements, goals };
}

/** Resolves to the history's tokens once all are counted. */
async function openSession(compactor: Compactor, history: readonly IContent[]): Promise<number> {
  const session = await compactor.createSession({ history });
  await session.history.waitForTokenUpdates();
  return session.history.getTotalTokens();
}

/** The lower bound of any opening that checks entries, transfers their texts and keeps the token counts. */
function takeApart(history: readonly IContent[]): void {
  history.forEach((entry, at) => {
    assertIngestible(entry, at);
  });
  for (const batch of countBatches(history)) post(batch);
  const ledger = new TokenLedger(
    () => Promise.resolve([]),
    () => undefined,
  );
  ledger.add(history);
  check(ledger.total > 0, 'the history has no tokens');
  ledger.clear();
}

/** One channel per post: unread messages would pile up in a shared one. */
function post(history: unknown): void {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(history);
  port1.close();
  port2.close();
}
