// A thousand sessions with resident histories on two threads: the cost of a turn, against that of a single session.

import { setTimeout as delay } from 'node:timers/promises';
import { createCompactor } from '../src/index.js';
import type { Compactor, IContent, Session } from '../src/index.js';
import { check, checkSameHistory } from './support/check.js';
import type { ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf } from './support/sessions.js';
import { median } from './support/timing.js';
import {
  checkNoFailures,
  EDITS_EVERY_TURN,
  inlineCompactor,
  timeTurn,
  TurnPlayer,
} from './support/turns.js';

const SESSIONS = 1_000;
const ENTRIES = 1_000;
const THREADS = 2;
const WARM_UP_TURNS = 30;
/** Each turn is in another session. */
const TURNS = 100;
/** The resulting history of one session in this many is checked. */
const CHECKED = 37;
const QUIET_MS = 200;

/** Always with sessions of 1,000 entries, whatever sizes are requested. */
export async function measureResidentSessions(): Promise<ScopeResult> {
  const history = historyOf(ENTRIES);
  const following = followingOf(ENTRIES);
  const alone = await measureTurns(1, history, following);
  const among = await measureTurns(SESSIONS, history, following);
  const measured = { scope: 'resident-sessions', entries: ENTRIES, unit: 'ms' } as const;
  const name = (sessions: string): string => `turn of 5 of ${sessions}, busy`;
  return {
    measurements: [
      { ...measured, name: name('a session alone'), value: alone, runs: TURNS },
      { ...measured, name: name(`${SESSIONS} sessions`), value: among, runs: TURNS },
    ],
    goals: [
      {
        name: `turn of one of ${SESSIONS} sessions, busy, for one alone`,
        value: among / alone,
        limit: 1.5,
      },
    ],
  };
}

/** Turns that rotate through the sessions. Token counts are estimates, because counting two gigabytes is not the subject. */
async function measureTurns(
  sessions: number,
  history: readonly IContent[],
  following: readonly IContent[],
): Promise<number> {
  const options = { offload: 'resident', tokenizer: 'estimate', threads: THREADS } as const;
  await using compactor = createCompactor({
    ...options,
    maxResidentSessions: sessions,
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const opened: Opened[] = [];
  for (let at = 0; at < sessions; at += 1) {
    const session = await compactor.createSession({ history, ...EDITS_EVERY_TURN });
    const player = new TurnPlayer(session, following);
    await player.window();
    opened.push({ session, player });
  }
  await quiet(compactor);
  const before = compactor.stats();
  check(before.residents?.residentSessions === sessions, 'a session has no place on a thread');

  let next = 0;
  const turn = async (): Promise<void> => {
    const { player } = opened[next % opened.length] ?? {};
    next += 1;
    await player?.turn();
  };
  for (let count = 0; count < WARM_UP_TURNS; count += 1) await turn();
  const busy: number[] = [];
  for (let count = 0; count < TURNS; count += 1) busy.push((await timeTurn(turn)).busyMs);

  const after = compactor.stats();
  const passes = after.residentPasses - before.residentPasses;
  check(passes === WARM_UP_TURNS + TURNS, `threads answered ${passes} passes`);
  checkNoFailures(compactor);
  for (let at = 0; at < opened.length; at += CHECKED) await checkAgainstInline(opened[at], history);
  return median(busy);
}

interface Opened {
  readonly session: Session;
  readonly player: TurnPlayer;
}

/** Waits until the threads have finished nothing more for a short while. */
async function quiet(compactor: Compactor): Promise<void> {
  for (let tasks = -1; tasks !== compactor.stats().workerTasks;) {
    tasks = compactor.stats().workerTasks;
    await delay(QUIET_MS);
  }
}

async function checkAgainstInline(
  opened: Opened | undefined,
  history: readonly IContent[],
): Promise<void> {
  const { session, player } = opened ?? {};
  check(session !== undefined && player !== undefined, 'a session is missing');
  await using compactor = inlineCompactor();
  const inline = await player.replay(compactor, history);
  checkSameHistory(session.history.getAll(), inline.history.getAll(), 'one of many and inline');
  const tokens = session.history.getTotalTokens();
  check(tokens === inline.history.getTotalTokens(), 'one of many and inline have different totals');
}
