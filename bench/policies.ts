// Turns of sessions that hold back edits, by policy: what is held grows with the history, but the cost of a turn must not.

import { createCompactor } from '../src/index.js';
import type { IContent, Session, SessionOptions } from '../src/index.js';
import { check } from './support/check.js';
import { timeThreadAlone } from './support/main-thread.js';
import { valueOf } from './support/measurement.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf } from './support/sessions.js';
import { median } from './support/timing.js';
import { checkNoFailures, ENTRIES_PER_TURN } from './support/turns.js';

const SCOPE = 'policies';
const WARM_UP_TURNS = 20;
const TURNS = 40;
/** The plan of held edits still crosses to the main thread, which checks it. */
const MAX_GROWTH = 2;

interface Play {
  readonly name: string;
  readonly options: SessionOptions;
  /** Whether each answer includes reasoning. */
  readonly reasons?: boolean;
  /** Called after each turn. */
  readonly after?: (session: Session) => void;
}

const PLAYS: readonly Play[] = [
  { name: 'auto', options: { edits: 'auto' } },
  {
    name: 'auto, a state each turn',
    options: { edits: 'auto' },
    after: (session) => void session.snapshot(),
  },
  { name: 'at-birth', options: { edits: 'at-birth' } },
  { name: 'append-only', options: { edits: 'append-only' } },
  { name: 'append-only, reasoning', options: { edits: 'append-only' }, reasons: true },
  { name: 'forbid-edits, reasoning', options: { reasoning: 'forbid-edits' }, reasons: true },
];

export async function measurePolicies({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  for (const entries of sizes) {
    for (const play of PLAYS) {
      const value = median(await processorOfTurns(play, entries));
      const name = `turn of ${ENTRIES_PER_TURN}, ${play.name}, processor`;
      measurements.push({ scope: SCOPE, name, entries, value, unit: 'ms', runs: TURNS });
    }
  }
  return { measurements, goals: growthGoals(measurements, sizes) };
}

function growthGoals(measurements: readonly Measurement[], sizes: readonly number[]): Goal[] {
  const [least = 0, most = 0] = [sizes.at(0), sizes.at(-1)];
  if (least === most) return [];
  return [...new Set(measurements.map(({ name }) => name))].map((name) => {
    const longest = valueOf(measurements, name, most) ?? NaN;
    const shortest = valueOf(measurements, name, least) ?? NaN;
    const value = longest / shortest;
    return { name: `${name}, longest history for shortest`, value, limit: MAX_GROWTH };
  });
}

async function processorOfTurns(play: Play, entries: number): Promise<readonly number[]> {
  const withReasoning = play.reasons === true ? reasoned : (entry: IContent): IContent => entry;
  const following = followingOf(entries).map(withReasoning);
  await using compactor = createCompactor({
    offload: 'resident',
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const history = historyOf(entries).map(withReasoning);
  const session = await compactor.createSession({ history, ...play.options });
  await session.ensureCompressionBeforeSend('first');
  const busy: number[] = [];
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn += 1) {
    const added = following.slice(turn * ENTRIES_PER_TURN, (turn + 1) * ENTRIES_PER_TURN);
    const { busyMs } = await timeThreadAlone(async () => {
      session.history.addAll(added);
      await session.ensureCompressionBeforeSend(`turn ${turn}`);
      play.after?.(session);
    });
    if (turn >= WARM_UP_TURNS) busy.push(busyMs);
  }
  check(session.history.isCounted, 'a window ended before its entries were counted');
  checkNoFailures(compactor);
  return busy;
}

function reasoned(entry: IContent, at: number): IContent {
  if (entry.speaker !== 'ai') return entry;
  const thinking = { type: 'thinking', thought: `Step ${at}.`, signature: `signed ${at}` } as const;
  return { ...entry, blocks: [thinking, ...entry.blocks] };
}
