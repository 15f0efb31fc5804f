// A resident session history on lines that a scheduler answers. Asserts nothing.

import fc from 'fast-check';
import { HistoryService } from '../../src/main/history-service.js';
import { nextTurn } from '../../src/main/waiting/event-loop-turn.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import type { Offload, OffloadedPlan } from '../../src/main/offload/offload.js';
import { ResidentOffload } from '../../src/main/offload/resident.js';
import type { IContent } from '../../src/shared/content.js';
import type { DensityConfig } from '../../src/shared/density.js';
import { countEachEntry } from './count-each-entry.js';
import { countThirds } from './piece-counters.js';
import { RESIDENT_AGENT } from './resident-session.js';
import { ScheduledConnectionHost } from './scheduled-connection-host.js';

/** Counts when the scheduler says so, like a pool. */
export class ScheduledPool implements Offload {
  readonly #scheduler: fc.Scheduler;
  counted = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  optimize(): Promise<OffloadedPlan> {
    return Promise.reject(new Error('A resident history has no pass planned by the pool.'));
  }

  countTokens(contents: readonly IContent[]): Promise<readonly number[]> {
    this.counted += contents.length;
    const counts = [...countEachEntry(contents, countThirds)];
    return this.#scheduler.schedule(Promise.resolve(counts), 'count');
  }
}

/** A resident session history on lines that a scheduler answers. */
export interface Bench {
  readonly history: HistoryService;
  readonly offload: ResidentOffload;
  readonly meter: OffloadMeter;
  readonly host: ScheduledConnectionHost;
  readonly pool: ScheduledPool;
  settings: DensityConfig;
}

/** The initial settings. */
export const SETTINGS: DensityConfig = {
  ...RESIDENT_AGENT,
  ...{ readWritePruning: true, fileDedupe: true, recencyPruning: false, recencyRetention: 3 },
};

/** @param minEntries the length from which the history is resident */
export function openBench(scheduler: fc.Scheduler, minEntries = 1, countsTokens = true): Bench {
  const host = new ScheduledConnectionHost(scheduler);
  const pool = new ScheduledPool(scheduler);
  const meter = new OffloadMeter();
  const offload = new ResidentOffload({
    ...{ host, pooled: pool, meter, agent: RESIDENT_AGENT, countsTokens, minEntries },
    passSettings: () => bench.settings,
  });
  const history = new HistoryService({
    countEntries: (contents) => offload.countTokens(contents),
  });
  history.watch(offload.noteChange);
  const bench: Bench = { history, offload, meter, host, pool, settings: SETTINGS };
  return bench;
}

/** Answers everything until nothing is pending. */
export async function drain(scheduler: fc.Scheduler): Promise<void> {
  for (let idleTurns = 0; idleTurns < 3; idleTurns += 1) {
    while (scheduler.count() > 0) {
      idleTurns = 0;
      await scheduler.waitIdle();
    }
    await nextTurn();
  }
}

/** Requests a pass on the current history. */
export function asks(
  { history, offload }: Bench,
  config: DensityConfig,
  signal?: AbortSignal,
): Promise<OffloadedPlan> {
  return offload.optimize(history.getRawHistory(), history.base, config, signal);
}

/** Runs a scenario that leaves the scheduler few choices. */
export async function tell(
  story: (scheduler: fc.Scheduler) => Promise<void>,
  numRuns = 20,
): Promise<void> {
  await fc.assert(fc.asyncProperty(fc.scheduler(), story), { numRuns });
}
