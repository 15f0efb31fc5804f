// The whole preflight of a session, by where its work runs, for turns that add five entries.

import { createCompactor } from '../src/index.js';
import type { IContent, OffloadMode, Session } from '../src/index.js';
import { check, checkSameHistory } from './support/check.js';
import { longestPauseMs, timeThread } from './support/main-thread.js';
import type { Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf, runsFor } from './support/sessions.js';
import { median } from './support/timing.js';
import { checkNoFailures, EDITS_EVERY_TURN } from './support/turns.js';

const MODES: readonly OffloadMode[] = ['inline', 'auto', 'resident', 'snapshot'];
const ENTRIES_PER_TURN = 5;

export async function measureWindow({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  for (const entries of sizes) {
    const turns = runsFor(entries, 12);
    let expected: { readonly history: readonly IContent[]; readonly tokens: number } | undefined;
    for (const mode of MODES) {
      await using compactor = createCompactor({
        offload: mode,
        contextLimit: ENDLESS_CONTEXT,
        workspaceRoot: '/w',
      });
      const session = await compactor.createSession({
        history: historyOf(entries),
        ...EDITS_EVERY_TURN,
      });
      await session.history.waitForTokenUpdates();
      await session.ensureCompressionBeforeSend('first');

      const times = await measureTurns(session, followingOf(entries), turns);
      for (const [name, values] of Object.entries<readonly number[]>({ ...times })) {
        measurements.push({
          scope: 'window',
          name: `${mode}, ${name}`,
          entries,
          value: median(values),
          unit: 'ms',
          runs: turns,
        });
      }
      const history = session.history.getAll();
      const tokens = session.history.getTotalTokens();
      expected ??= { history, tokens };
      // A full queue while a long history is counted is no failure of passes.
      if (mode === 'resident') checkNoFailures(compactor);
      checkSameHistory(history, expected.history, `${mode} and inline`);
      check(tokens === expected.tokens, `${mode} and inline count different totals`);
    }
  }
  return { measurements, goals: [] };
}

interface TurnTimes {
  readonly busy: readonly number[];
  readonly wall: readonly number[];
  readonly 'longest pause': readonly number[];
}

/** Alternates two kinds of turns: for busy and wall time, and for the pause, which needs a busy event loop. */
async function measureTurns(
  session: Session,
  following: readonly IContent[],
  turns: number,
): Promise<TurnTimes> {
  const busy: number[] = [];
  const wall: number[] = [];
  const pauses: number[] = [];
  let next = 0;
  const turn = async (): Promise<void> => {
    session.history.addAll(following.slice(next, next + ENTRIES_PER_TURN));
    next += ENTRIES_PER_TURN;
    await session.ensureCompressionBeforeSend(`turn ${next}`);
    check(!session.densityDirty, 'the window left the history dirty');
  };
  for (let at = 0; at < turns; at += 1) {
    const time = await timeThread(turn);
    busy.push(time.busyMs);
    wall.push(time.wallMs);
    pauses.push(await longestPauseMs(turn));
  }
  return { busy, wall, 'longest pause': pauses };
}
