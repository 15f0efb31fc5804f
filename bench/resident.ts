// Turns of a session with a resident history: main-thread cost, duration of preflights, and event loop pauses while a history is
// transferred.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCompactor } from '../src/index.js';
import type { Compactor, CompactorOptions, IContent, Session } from '../src/index.js';
import { InlineOffload } from '../src/main/offload/inline.js';
import { check, checkSameHistory } from './support/check.js';
import { longestPauseMs, timeThread } from './support/main-thread.js';
import { valueOf } from './support/measurement.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf } from './support/sessions.js';
import { median, quantile } from './support/timing.js';
import {
  checkNoFailures,
  ENTRIES_PER_TURN,
  EDITS_EVERY_TURN,
  inlineCompactor,
  timeTurn,
  TurnPlayer,
  waitAsInTurn,
} from './support/turns.js';

const SCOPE = 'resident';
/** Enough to compile the code. */
const WARM_UP_TURNS = 100;
const TURNS = 100;
/** Between back-to-back turns, as between the clones that they are compared with. */
const BETWEEN_TURNS_MS = 1;
const TURNS_APART = 25;
/** The median excludes the first, which loads code. */
const OPENINGS = 3;
const WAITS_ALONE = 25;
const WINDOWS_AT_ONCE = 25;
/** Longer than the work that a turn triggers, even with a long history. */
const REST_MS = 20;
/** Enough for a 99th percentile. */
const WINDOWS_LATER = 200;
const LATER_MS = 50;

const BUSY_WARM = 'turn of 5, back to back, busy';
const BUSY = 'turn of 5, all at once, busy';
const POSTED = 'five entries posted to a thread that answers, busy';
const COUNTED = 'five entries added and counted, no window, busy';
const BUSY_APART = 'turn of 5, one by one, busy';
const WAITING = 'the waits of such a turn alone, busy';
const AT_ONCE = 'window, entry just now, wall';
const LATER = `window, entry ${LATER_MS} ms ago, wall`;
const LATER_P99 = `${LATER}, p99`;
const OPENING = 'opening, longest pause';
/** What the system imposes on any thread that shares its cores with as many busy threads. */
const OPENING_FLOOR = 'longest pause of an idle loop beside busy threads';
const RECOUNT = 'full recount inline, wall';

/** The goals relative to one clone apply at this length, those of long histories at the other. */
const CLONE_GOAL_ENTRIES = 10_000;
const LONG_GOAL_ENTRIES = 100_000;

const OPTIONS: CompactorOptions = {
  offload: 'resident',
  contextLimit: ENDLESS_CONTEXT,
  workspaceRoot: '/w',
};

export async function measureResident({ sizes, cloneMs }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  for (const entries of sizes) {
    const add = (name: string, value: number, runs: number): void => {
      measurements.push({ scope: SCOPE, name, entries, value, unit: 'ms', runs });
    };
    const history = historyOf(entries);
    const openingsMs: number[] = [];
    const idleMs: number[] = [];
    for (let opening = 1; opening < OPENINGS; opening += 1) {
      await using other = createCompactor(OPTIONS);
      const startedAt = performance.now();
      openingsMs.push(await longestPauseMs(() => openSession(other, history)));
      const { threads } = other.status();
      idleMs.push(await idlePauseMs(threads, performance.now() - startedAt));
    }
    await using compactor = createCompactor(OPTIONS);
    let session: Session | undefined;
    openingsMs.push(
      await longestPauseMs(async () => {
        session = await openSession(compactor, history);
      }),
    );
    check(session !== undefined, 'no session was made');
    add(OPENING, median(openingsMs), OPENINGS);
    add(OPENING_FLOOR, median(idleMs), idleMs.length);

    const player = new TurnPlayer(session, followingOf(entries));
    await player.window();
    await measureTurns(player, add);
    add(COUNTED, median(await busyOfCounts(player, session)), TURNS);
    await player.window();
    await measureWindows(player, add, entries >= LONG_GOAL_ENTRIES);
    const passes = compactor.stats().residentPasses;
    check(passes >= TURNS + WARM_UP_TURNS, `the worker answered ${passes} passes`);
    checkNoFailures(compactor);
    add(RECOUNT, await checkAgainstInline(session, history, player), 1);
  }
  return { measurements, goals: goalsOf(measurements, sizes, cloneMs) };
}

/** A thread that is busy for the requested milliseconds and then replies. */
const BUSY_THREAD = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (milliseconds) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
    parentPort.postMessage('done');
  });
`;

/** The longest pause of an idle event loop while this many threads are busy. */
async function idlePauseMs(threads: number, milliseconds: number): Promise<number> {
  const workers = Array.from({ length: threads }, () => new Worker(BUSY_THREAD, { eval: true }));
  await Promise.all(workers.map((worker) => once(worker, 'online')));
  const pauseMs = await longestPauseMs(() =>
    Promise.all(
      workers.map((worker) => {
        worker.postMessage(milliseconds);
        return once(worker, 'message');
      }),
    ),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
  return pauseMs;
}

/** Resolves once the history is transferred and counted. */
async function openSession(compactor: Compactor, history: readonly IContent[]): Promise<Session> {
  const session = await compactor.createSession({ history, ...EDITS_EVERY_TURN });
  await session.history.waitForTokenUpdates();
  return session;
}

type AddMeasurement = (name: string, value: number, runs: number) => void;

async function measureTurns(player: TurnPlayer, add: AddMeasurement): Promise<void> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) await player.turn();
  const busyWarm: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const time = await timeThread(() => {
      player.arriveTogether();
      return player.window();
    }, BETWEEN_TURNS_MS);
    busyWarm.push(time.busyMs);
  }
  add(BUSY_WARM, median(busyWarm), TURNS);

  add(POSTED, median(await busyOfPosts(player.added)), TURNS);

  const busy: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const time = await timeTurn(() => {
      player.arriveTogether();
      return player.window();
    });
    busy.push(time.busyMs);
  }
  add(BUSY, median(busy), TURNS);

  const busyApart: number[] = [];
  for (let turn = 0; turn < TURNS_APART; turn += 1) {
    busyApart.push((await timeTurn(() => player.turn())).busyMs);
  }
  add(BUSY_APART, median(busyApart), TURNS_APART);

  const waiting: number[] = [];
  for (let turn = 0; turn < WAITS_ALONE; turn += 1) {
    waiting.push((await timeTurn(waitAsInTurn)).busyMs);
  }
  add(WAITING, median(waiting), WAITS_ALONE);
}

/** The cost of a turn without a decision: checks and posts entries, receives their counts. */
async function busyOfCounts(player: TurnPlayer, session: Session): Promise<readonly number[]> {
  const busy: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const time = await timeThread(() => {
      player.arriveTogether();
      return session.history.waitForTokenUpdates();
    }, BETWEEN_TURNS_MS);
    busy.push(time.busyMs);
  }
  return busy;
}

/** The lower bound of any turn that sends its entries to a thread: one message there, one back. */
async function busyOfPosts(entries: readonly IContent[]): Promise<readonly number[]> {
  const worker = new Worker(ANSWERING, { eval: true });
  let answered = (): void => undefined;
  worker.on('message', () => {
    answered();
  });
  const busy: number[] = [];
  for (let post = 0; post < WARM_UP_TURNS + TURNS; post += 1) {
    const posted = entries.slice(post * ENTRIES_PER_TURN, (post + 1) * ENTRIES_PER_TURN);
    const { busyMs } = await timeThread(() => {
      const answer = new Promise<void>((resolve) => {
        answered = resolve;
      });
      worker.postMessage(posted);
      return answer;
    }, BETWEEN_TURNS_MS);
    if (post >= WARM_UP_TURNS) busy.push(busyMs);
  }
  await worker.terminate();
  return busy;
}

const ANSWERING = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', (entries) => parentPort.postMessage(new Int32Array(entries.length)));`;

async function measureWindows(
  player: TurnPlayer,
  add: AddMeasurement,
  isLong: boolean,
): Promise<void> {
  const atOnce: number[] = [];
  for (let turn = 0; turn < WINDOWS_AT_ONCE; turn += 1) {
    await delay(REST_MS);
    atOnce.push(await player.turn());
  }
  add(AT_ONCE, median(atOnce), WINDOWS_AT_ONCE);

  // Takes seconds, for figures that only long histories have goals for.
  if (!isLong) return;
  const later: number[] = [];
  for (let turn = 0; turn < WINDOWS_LATER; turn += 1) {
    await player.arrive();
    await delay(LATER_MS);
    later.push(await player.window());
  }
  add(LATER, median(later), WINDOWS_LATER);
  add(LATER_P99, quantile(later, 0.99), WINDOWS_LATER);
}

/** Checks that the same turns inline leave the same history. Returns the time to count all entries. */
async function checkAgainstInline(
  session: Session,
  history: readonly IContent[],
  player: TurnPlayer,
): Promise<number> {
  const added = [...history, ...player.added];
  const offload = new InlineOffload();
  await offload.countTokens(added.slice(0, 1));
  const startedAt = performance.now();
  const counts = await offload.countTokens(added);
  const wallMs = performance.now() - startedAt;
  const known = new Map(added.map((entry, at) => [entry, counts[at] ?? NaN]));

  await using compactor = inlineCompactor();
  const inline = await player.replay(compactor, history);
  const left = session.history.getAll();
  check(left.length < added.length, 'the windows pruned nothing');
  checkSameHistory(left, inline.history.getAll(), 'resident and inline');

  const edited = left.filter((entry) => !known.has(entry));
  const editedCounts = await offload.countTokens(edited);
  edited.forEach((entry, at) => known.set(entry, editedCounts[at] ?? NaN));
  const total = left.reduce((sum, entry) => sum + (known.get(entry) ?? NaN), 0);
  const resident = session.history.getTotalTokens();
  check(total === resident, `resident counts ${resident} tokens, inline ${total}`);
  return wallMs;
}

function goalsOf(
  measurements: readonly Measurement[],
  sizes: readonly number[],
  cloneMs: ScopeContext['cloneMs'],
): readonly Goal[] {
  const goals: Goal[] = [];
  const value = (name: string, entries: number): number =>
    valueOf(measurements, name, entries) ?? NaN;
  if (sizes.includes(CLONE_GOAL_ENTRIES)) {
    goals.push({
      name: `${BUSY_WARM}, of one clone (10,000)`,
      value: value(BUSY_WARM, CLONE_GOAL_ENTRIES) / cloneMs(CLONE_GOAL_ENTRIES),
      limit: 0.005,
    });
  }
  const [shortest = 0, longest = 0] = [sizes[0], sizes.at(-1)];
  goals.push({
    name: `${BUSY_WARM}, longest history for shortest`,
    value: value(BUSY_WARM, longest) / value(BUSY_WARM, shortest),
    limit: 1.2,
  });
  if (longest < LONG_GOAL_ENTRIES) return goals;
  const atOnceShare = value(AT_ONCE, longest) / value(RECOUNT, longest);
  goals.push(
    { name: `${LATER}, ms`, value: value(LATER, longest), limit: 0.5 },
    { name: `${LATER_P99}, ms`, value: value(LATER_P99, longest), limit: 2 },
    { name: `${AT_ONCE}, of a full recount inline`, value: atOnceShare, limit: 1 / 1_000 },
    { name: `${OPENING}, ms`, value: value(OPENING, longest), limit: 8 },
  );
  return goals;
}
