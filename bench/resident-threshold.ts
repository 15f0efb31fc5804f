// The length from which a resident history makes turns cheaper: turns of short histories, by where their passes run, with and
// without token counts.

import { createCompactor } from '../src/index.js';
import type { Compactor, CompactorOptions, IContent } from '../src/index.js';
import { checkSameHistory } from './support/check.js';
import type { Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf } from './support/sessions.js';
import { median } from './support/timing.js';
import { checkNoFailures, EDITS_EVERY_TURN, timeTurn, TurnPlayer } from './support/turns.js';

/** Any threshold is below this. */
const MAX_ENTRIES = 2_048;
/** Enough to compile the code. */
const WARM_UP_TURNS = 20;
/** Sessions are short, because their histories must stay short. */
const SESSIONS = 6;
const TURNS_PER_SESSION = 4;

interface Way {
  readonly name: string;
  readonly options: CompactorOptions;
}

const WAYS: readonly Way[] = [
  { name: 'pass inline', options: { offload: 'inline', tokenizer: 'estimate' } },
  { name: 'pass resident', options: { offload: 'resident', tokenizer: 'estimate' } },
  { name: 'auto, with counts', options: { offload: 'auto' } },
  { name: 'resident, with counts', options: { offload: 'resident' } },
];

/** Measures the requested lengths up to 2,048. */
export async function measureResidentThreshold({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const left = new Map<number, readonly IContent[]>();
  const lengths = sizes.filter((entries) => entries <= MAX_ENTRIES);
  for (const { name, options } of WAYS) {
    await using compactor = createCompactor({
      ...options,
      contextLimit: ENDLESS_CONTEXT,
      workspaceRoot: '/w',
    });
    for (const entries of lengths) {
      const busy: number[] = [];
      const wall: number[] = [];
      if (entries === lengths[0]) await playSession(compactor, entries, WARM_UP_TURNS, [], []);
      for (let count = 0; count < SESSIONS; count += 1) {
        const history = await playSession(compactor, entries, TURNS_PER_SESSION, busy, wall);
        checkSameHistory(history, left.get(entries) ?? history, `${name} and inline`);
        left.set(entries, history);
      }
      const measured = { scope: 'threshold', entries, unit: 'ms', runs: busy.length } as const;
      measurements.push(
        { ...measured, name: `${name}, turn of 5, busy`, value: median(busy) },
        { ...measured, name: `${name}, window, wall`, value: median(wall) },
      );
    }
    checkNoFailures(compactor);
  }
  return { measurements, goals: [] };
}

/** Plays a session, records the times of its turns, and returns the resulting history. */
async function playSession(
  compactor: Compactor,
  entries: number,
  turns: number,
  busy: number[],
  wall: number[],
): Promise<readonly IContent[]> {
  const session = await compactor.createSession({
    history: historyOf(entries),
    ...EDITS_EVERY_TURN,
  });
  await session.history.waitForTokenUpdates();
  const player = new TurnPlayer(session, followingOf(entries));
  await player.turn();
  for (let turn = 0; turn < turns; turn += 1) {
    const time = await timeTurn(async () => wall.push(await player.turn()));
    busy.push(time.busyMs);
  }
  await session.close();
  return session.history.getAll();
}
