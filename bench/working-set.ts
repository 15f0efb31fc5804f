// What a working set adds to a density pass on the calling thread, and to turns of a session with a resident history.

import {
  createCompactor,
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  runsCommands,
} from '../src/index.js';
import {
  applyDensityResult,
  DEFAULT_WORKING_SET,
  isEmptyDensityResult,
  optimize,
} from '../src/density.js';
import { findViolations } from '../src/validate.js';
import type { Compactor, IContent } from '../src/index.js';
import type { DensityConfig, WorkingSetRules } from '../src/density.js';
import { check } from './support/check.js';
import { timeThread } from './support/main-thread.js';
import { valueOf } from './support/measurement.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { CONFIG, ENDLESS_CONTEXT, followingOf, historyOf, runsFor } from './support/sessions.js';
import { median, medianMs } from './support/timing.js';
import { checkNoFailures, EDITS_EVERY_TURN, TurnPlayer } from './support/turns.js';

const SCOPE = 'working-set';
const WITHOUT = 'optimize without it';
const HELD = 'optimize, its edits held';
const HELD_COMMANDS = 'optimize, its edits held, commands read';
const WITH = 'optimize, with its edits, commands read';
const KEPT_SO_FAR = 'optimize, on what it kept so far, commands read';
const TURN_WITHOUT = 'resident turn of 5 without it, busy';
const TURN_HELD = 'resident turn of 5, its edits held, busy';
const TURN_WITH = 'resident turn of 5, with its edits, busy';

/** Classifies the sessions' commands, as a preset does. */
const PLAIN: DensityConfig = {
  ...CONFIG,
  toolCatalog: extendToolCatalog(DEFAULT_TOOL_CATALOG, { run_shell_command: runsCommands() }),
  partialWritesSupersede: false,
};
const KEPT: DensityConfig = { ...PLAIN, workingSet: DEFAULT_WORKING_SET };
/** Evaluates everything and removes nothing, because the cost of an edit does not depend on its rule. */
const HELD_RULES: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  paybackCalls: 0,
};

/** Entries between two passes while a history grows: some twenty turns. */
const ENTRIES_PER_PASS = 200;
const ROUNDS = 5;
const WARM_UP_TURNS = 60;
const TURNS = 100;
const BETWEEN_TURNS_MS = 1;
const GOAL_ENTRIES = 10_000;

export async function measureWorkingSet({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  for (const entries of sizes) {
    const runs = runsFor(entries, 40);
    const add = (name: string, value: number): void => {
      measurements.push({ scope: SCOPE, name, entries, value, unit: 'ms', runs });
    };
    const whole = historyOf(entries);
    const plain = { ...CONFIG, partialWritesSupersede: false };
    const held = { ...plain, workingSet: HELD_RULES };
    const heldCommands = { ...PLAIN, workingSet: HELD_RULES };
    const times = interleaved(runs, [
      () => optimize(whole, plain),
      () => optimize(whole, held),
      () => optimize(whole, heldCommands),
      () => optimize(whole, KEPT),
    ]);
    [WITHOUT, HELD, HELD_COMMANDS, WITH].forEach((name, at) => add(name, times[at] ?? NaN));
    const kept = keptHistory(entries);
    add(KEPT_SO_FAR, interleaved(runs, [() => optimize(kept, KEPT)])[0] ?? NaN);
    if (entries !== GOAL_ENTRIES) continue;
    const turns = await measureTurns(entries, [undefined, HELD_RULES, DEFAULT_WORKING_SET]);
    [TURN_WITHOUT, TURN_HELD, TURN_WITH].forEach((name, at) => add(name, turns[at] ?? NaN));
  }
  return { measurements, goals: goalsOf(measurements) };
}

/** A history of about that many entries, pruned to its working set from the start. */
function keptHistory(entries: number): readonly IContent[] {
  const history: IContent[] = [];
  for (const entry of [...historyOf(entries), ...followingOf(entries)]) {
    history.push(entry);
    if (history.length % ENTRIES_PER_PASS !== 0) continue;
    applyDensityResult(history, optimize(history, KEPT));
  }
  const result = optimize(history, KEPT);
  applyDensityResult(history, result);
  check(findViolations(history).length === 0, 'the working set left an invalid history');
  check(isEmptyDensityResult(optimize(history, KEPT)), 'a second pass found something');
  return history;
}

/** Medians in milliseconds. Passes alternate, so that a slow moment affects all of them. */
function interleaved(runs: number, passes: readonly (() => unknown)[]): readonly number[] {
  const times = passes.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    passes.forEach((pass, at) => {
      times[at]?.push(medianMs({ runs, prepare: () => undefined }, pass));
    });
  }
  return times.map(median);
}

/** By working set, the median milliseconds that a turn keeps the main thread busy. */
async function measureTurns(
  entries: number,
  workingSets: readonly (WorkingSetRules | undefined)[],
): Promise<readonly number[]> {
  await using compactor = createCompactor({
    offload: 'resident',
    contextLimit: ENDLESS_CONTEXT,
    workspaceRoot: '/w',
  });
  const players: TurnPlayer[] = [];
  for (const workingSet of workingSets) {
    players.push(await openPlayer(compactor, entries, workingSet));
  }
  const busy = players.map((): number[] => []);
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn += 1) {
    for (const [at, player] of players.entries()) {
      const { busyMs } = await timeThread(() => {
        player.arriveTogether();
        return player.window();
      }, BETWEEN_TURNS_MS);
      if (turn >= WARM_UP_TURNS) busy[at]?.push(busyMs);
    }
  }
  checkNoFailures(compactor);
  return busy.map(median);
}

async function openPlayer(
  compactor: Compactor,
  entries: number,
  workingSet: WorkingSetRules | undefined,
): Promise<TurnPlayer> {
  const { toolCatalog } = PLAIN;
  const session = await compactor.createSession({
    history: historyOf(entries),
    ...EDITS_EVERY_TURN,
    density: {
      partialWritesSupersede: false,
      ...(toolCatalog !== undefined && { toolCatalog }),
      ...(workingSet !== undefined && { workingSet }),
    },
  });
  await session.history.waitForTokenUpdates();
  const player = new TurnPlayer(session, followingOf(entries));
  await player.window();
  return player;
}

function goalsOf(measurements: readonly Measurement[]): Goal[] {
  const ratio = (name: string, ofName: string, limit: number): Goal[] => {
    const value = valueOf(measurements, name, GOAL_ENTRIES);
    const of = valueOf(measurements, ofName, GOAL_ENTRIES);
    if (value === undefined || of === undefined) return [];
    return [{ name: `${name}, of ${ofName} (10,000)`, value: value / of, limit }];
  };
  return [...ratio(HELD, WITHOUT, 1.5), ...ratio(TURN_HELD, TURN_WITHOUT, 1.05)];
}
