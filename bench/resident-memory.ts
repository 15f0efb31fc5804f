// What a resident history adds to the peak memory of a process, compared with snapshots, and what a worker keeps per session.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { IContent } from '../src/index.js';
import { DeltaQueue } from '../src/main/offload/delta-queue.js';
import { indexedAgentOf } from '../src/shared/density/index/index-scope.js';
import { planWithTexts } from '../src/shared/density/plan/optimize.js';
import { ResidentHistory } from '../src/worker/resident-history.js';
import { check } from './support/check.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import type { PeakMode, PeakOrder, PeakReport } from './support/peak-memory-entry.js';
import { CONFIG, followingOf, historyOf, megabytesOf } from './support/sessions.js';
import { usedMegabytes } from './support/used-megabytes.js';

const SCOPE = 'resident-memory';
/** Below this length, the memory of the threads themselves dominates. */
const MIN_PEAK_ENTRIES = 10_000;
const PEAK_GOAL_ENTRIES = 100_000;
/** Entries sent to a child process per message. */
const ENTRIES_PER_MESSAGE = 1_000;
const FOLLOWING_ENTRIES = 50;
const SHORT_SESSIONS = 1_000;
/** Short histories are kept several times, to reach this many entries in total. */
const KEPT_ENTRIES = 20_000;

export async function measureResidentMemory({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    const add = (name: string, value: number): void => {
      measurements.push({ scope: SCOPE, name, entries, value, unit: 'MB', runs: 1 });
    };
    const megabytes = megabytesOf(history);
    add('history', megabytes);
    const kept = await keptPerSession(history);
    add('kept in the worker, per session', kept);
    goals.push({
      name: `kept in the worker, of the history (${entries.toLocaleString('en')})`,
      value: kept / megabytes,
      limit: 0.06,
    });
    if (entries < MIN_PEAK_ENTRIES) continue;
    const { resident, snapshot } = await peaksOf(history, 1, followingOf(entries));
    check(resident.length < entries + FOLLOWING_ENTRIES, 'the windows pruned nothing');
    add('added at the peak, resident', resident.addedMegabytes);
    add('added at the peak, snapshot', snapshot.addedMegabytes);
    if (entries !== PEAK_GOAL_ENTRIES) continue;
    goals.push({
      name: `added at the peak, resident for snapshot (${entries.toLocaleString('en')})`,
      value: resident.addedMegabytes / snapshot.addedMegabytes,
      limit: 1 / 15,
    });
    await measureShortSessions(history, add, goals);
  }
  return { measurements, goals };
}

/** The same for many short sessions, each with a part of the history. */
async function measureShortSessions(
  history: readonly IContent[],
  add: (name: string, value: number) => void,
  goals: Goal[],
): Promise<void> {
  const { resident, snapshot } = await peaksOf(history, SHORT_SESSIONS, []);
  const kept = await keptPerSession(history.slice(0, history.length / SHORT_SESSIONS));
  const of = `${SHORT_SESSIONS.toLocaleString('en')} sessions`;
  add(`added at the peak by ${of}, resident`, resident.addedMegabytes);
  add(`added at the peak by ${of}, snapshot`, snapshot.addedMegabytes);
  add(`kept in workers for ${of}`, kept * SHORT_SESSIONS);
  goals.push({
    name: `added at the peak by ${of}, resident for snapshot`,
    value: resident.addedMegabytes / snapshot.addedMegabytes,
    limit: 1 / 15,
  });
}

/** Megabytes that a worker keeps for a session, measured on this thread with copies as a thread receives them. */
async function keptPerSession(history: readonly IContent[]): Promise<number> {
  const sessions = Math.max(1, Math.round(KEPT_ENTRIES / history.length));
  // The first one is not measured, because it includes memory of the compiler.
  const kept: Resident[] = [residentOf(history.slice(0, 1_000))];
  const before = await usedMegabytes();
  for (let session = 0; session < sessions; session += 1) kept.push(residentOf(history));
  const after = await usedMegabytes();
  // Also keeps all of them alive until here.
  const expected = planWithTexts(history, CONFIG).plan;
  for (const resident of kept.slice(1)) {
    const { pass } = resident.history.receive({ ...resident.queue.nothing(), pass: CONFIG });
    check(pass?.plan.length === expected.length, 'the plan of a kept history differs');
  }
  return (after - before) / sessions;
}

interface Resident {
  readonly history: ResidentHistory;
  readonly queue: DeltaQueue;
}

function residentOf(history: readonly IContent[]): Resident {
  const agent = indexedAgentOf(CONFIG);
  // The size of the counts does not depend on the counter.
  const resident = new ResidentHistory({ agent, countsTokens: true }, ({ length }) => length);
  const base = { revision: 0, length: history.length };
  const state = { base, entries: history, countedTokens: () => undefined };
  const queue = new DeltaQueue(state, history.length);
  for (let parcel = queue.take(); parcel !== undefined; parcel = queue.take()) {
    resident.receive(structuredClone(parcel.delta));
  }
  return { history: resident, queue };
}

async function peaksOf(
  history: readonly IContent[],
  sessions: number,
  following: readonly IContent[],
): Promise<Record<PeakMode, PeakReport>> {
  const resident = await peakOf('resident', history, sessions, following);
  const snapshot = await peakOf('snapshot', history, sessions, following);
  check(
    resident.length === snapshot.length && resident.tokens === snapshot.tokens,
    'resident and snapshot leave different histories',
  );
  return { resident, snapshot };
}

/** Opens the history and plays turns on it in a fresh process, which no earlier work has affected. */
async function peakOf(
  mode: PeakMode,
  history: readonly IContent[],
  sessions: number,
  following: readonly IContent[],
): Promise<PeakReport> {
  const child = fork(new URL('./support/peak-memory-entry.js', import.meta.url), {
    serialization: 'advanced',
  });
  const send = (order: PeakOrder): Promise<void> =>
    new Promise((resolve, reject) => {
      child.send(order, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  for (let start = 0; start < history.length; start += ENTRIES_PER_MESSAGE) {
    await send({ kind: 'take', entries: history.slice(start, start + ENTRIES_PER_MESSAGE) });
  }
  const leaving = once(child, 'exit').then(([code]) => {
    throw new Error(`The process that measures memory exited with code ${String(code)}.`);
  });
  const report = once(child, 'message') as Promise<[PeakReport]>;
  await send({ kind: 'play', mode, sessions, following: following.slice(0, FOLLOWING_ENTRIES) });
  const [made] = await Promise.race([report, leaving]);
  leaving.catch(() => undefined);
  child.disconnect();
  return made;
}
