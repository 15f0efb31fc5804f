// A session's resident history in every order of events that a scheduler finds: whatever is lost, late
// or refused, every promise settles, plans and counts are right, and there is another line afterwards.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HistoryService } from '../../../src/main/history-service.js';
import { MAX_BATCH_CHARACTERS } from '../../../src/main/offload/count-batches.js';
import { nextTurn } from '../../../src/main/offload/event-loop-turn.js';
import { InlineOffload } from '../../../src/main/offload/inline.js';
import type { BasedPlan, Offload, OffloadStats } from '../../../src/main/offload/offload.js';
import { ResidentOffload } from '../../../src/main/offload/resident.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import type { DensityBase, DensityConfig } from '../../../src/shared/density.js';
import { materializeDensityPlan } from '../../../src/shared/density/materialize.js';
import { optimize, planDensity } from '../../../src/shared/density/optimize.js';
import { EMPTY_PLAN } from '../../../src/shared/density/plan.js';
import type { DensityPlan } from '../../../src/shared/density/plan.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import { countEachEntry } from '../../../src/shared/tokens/count-tokens.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../../support/arbitrary-history.js';
import { countThirds } from '../../support/piece-counters.js';
import { RESIDENT_AGENT } from '../../support/resident-session.js';
import { ScheduledLineHost } from '../../support/scheduled-line-host.js';

const ABORTED = new Error('the turn was called off');

/** Counts when the scheduler says so, as a pool would. */
class ScheduledPool implements Offload {
  readonly #scheduler: fc.Scheduler;
  readonly #inline: InlineOffload = new InlineOffload();
  counted = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  get stats(): OffloadStats {
    return this.#inline.stats;
  }

  optimize(): Promise<BasedPlan> {
    return Promise.reject(new Error('A resident history has no pass planned by the pool.'));
  }

  countTokens(contents: readonly IContent[]): Promise<readonly number[]> {
    this.counted += contents.length;
    const counts = [...countEachEntry(contents, countThirds)];
    return this.#scheduler.schedule(Promise.resolve(counts), 'count');
  }
}

type Happening =
  | { readonly kind: 'add'; readonly count: number }
  /** Asks for a pass; `isOther`: with settings that nobody foresaw. Applies it when `isApplied`. */
  | {
      readonly kind: 'window';
      readonly times: number;
      readonly isOther: boolean;
      readonly isAborted: boolean;
      readonly isApplied: boolean;
    }
  | { readonly kind: 'count' }
  | { readonly kind: 'refuse'; readonly times: number }
  | {
      readonly kind:
        'prune' | 'rewrite' | 'clear' | 'settings' | 'abort' | 'lose' | 'letGo' | 'turn' | 'answer';
    };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('window' as const),
      times: fc.constantFrom(1, 1, 2),
      isOther: fc.boolean(),
      isAborted: fc.constantFrom(false, false, false, true),
      isApplied: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'count' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      times: fc.constantFrom(1, 2, 4),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['prune', 'rewrite', 'clear', 'settings', 'abort', 'lose', 'letGo'] as const),
        ...(['turn', 'turn', 'turn', 'turn', 'turn', 'turn', 'turn'] as const),
        ...(['answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer'] as const),
      ),
    }),
  },
);

/** What the interleavings have been through. */
const seen = {
  ...{ runs: 0, openings: 0, refusals: 0, losses: 0, lettingsGo: 0, planned: 0, asked: 0 },
  ...{ applied: 0, stale: 0, aborted: 0, residentCounts: 0 },
};

let clockMs = 0;
beforeEach(() => {
  clockMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clockMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface Bench {
  readonly history: HistoryService;
  readonly offload: ResidentOffload;
  readonly host: ScheduledLineHost;
  readonly pool: ScheduledPool;
  settings: DensityConfig;
}

const SETTINGS: DensityConfig = {
  ...RESIDENT_AGENT,
  ...{ readWritePruning: true, fileDedupe: true, recencyPruning: false, recencyRetention: 3 },
};

function openBench(scheduler: fc.Scheduler, minEntries = 1, countsTokens = true): Bench {
  const host = new ScheduledLineHost(scheduler);
  const pool = new ScheduledPool(scheduler);
  const offload = new ResidentOffload({
    ...{ host, pooled: pool, agent: RESIDENT_AGENT, countsTokens, minEntries },
    passSettings: () => bench.settings,
  });
  const history = new HistoryService({
    mirror: offload,
    countEntries: (contents) => offload.countTokens(contents),
  });
  const bench: Bench = { history, offload, host, pool, settings: SETTINGS };
  return bench;
}

/** Answers everything, until nothing is under way any more. */
async function drain(scheduler: fc.Scheduler): Promise<void> {
  for (let idleTurns = 0; idleTurns < 3; idleTurns += 1) {
    while (scheduler.count() > 0) {
      idleTurns = 0;
      await scheduler.waitNext(1);
    }
    await nextTurn();
  }
}

function tokensOf(contents: readonly IContent[]): number {
  return countEachEntry(contents, countThirds).reduce((sum, tokens) => sum + tokens, 0);
}

/** Plays a script and holds everything that it brings about against the history itself. */
class Play {
  readonly bench: Bench;
  readonly #supply: readonly IContent[];
  readonly #other: DensityConfig;
  readonly #settled: Promise<unknown>[] = [];
  #aborts = new AbortController();
  #next = 0;

  constructor(bench: Bench, supply: readonly IContent[], other: DensityConfig) {
    this.bench = bench;
    this.#supply = supply.length === 0 ? [humanText('hello')] : supply;
    this.#other = { ...other, ...RESIDENT_AGENT };
  }

  /** All that was asked for and has not been answered. */
  async settle(scheduler: fc.Scheduler): Promise<void> {
    const all = Promise.all(this.#settled);
    let isOver = false;
    const over = all.finally(() => {
      isOver = true;
    });
    over.catch(() => undefined);
    await drain(scheduler);
    expect(isOver).toBe(true);
    await over;
  }

  add(count: number): void {
    const entries = Array.from({ length: count }, () => {
      const entry = this.#supply[this.#next % this.#supply.length] ?? humanText('hello');
      this.#next += 1;
      return { ...entry };
    });
    this.bench.history.addAll(entries);
  }

  async happen(scheduler: fc.Scheduler, event: Happening): Promise<void> {
    const { bench } = this;
    const { history, offload, host } = bench;
    switch (event.kind) {
      case 'add':
        this.add(event.count);
        return;
      case 'window':
        for (let time = 0; time < event.times; time += 1) this.#settled.push(this.window(event));
        return;
      case 'count': {
        const contents = [...history.getAll().slice(-5), humanText('of no history')];
        this.#settled.push(this.#count(contents), this.#count(contents.slice(0, -1)));
        return;
      }
      case 'refuse':
        host.refusalsAhead = event.times;
        return;
      case 'prune':
        this.#settled.push(
          history.applyDensityResult(optimize(history.getAll(), bench.settings), history.base),
        );
        return;
      case 'rewrite':
        history.replaceAll([...history.getAll().slice(2), humanText('summary')], history.base);
        return;
      case 'clear':
        history.clear();
        return;
      case 'settings':
        bench.settings = bench.settings === SETTINGS ? this.#other : SETTINGS;
        return;
      case 'abort':
        this.#aborts.abort(ABORTED);
        this.#aborts = new AbortController();
        return;
      case 'lose':
        for (const line of host.openLines) {
          seen.losses += 1;
          line.fail(new WorkerPoolError('The thread died.', 'WORKER_DIED'));
        }
        return;
      case 'letGo':
        seen.lettingsGo += 1;
        offload.letGo();
        return;
      case 'turn':
        await nextTurn();
        return;
      case 'answer':
        if (scheduler.count() > 0) await scheduler.waitNext(1);
    }
  }

  /** Asks for a pass; the plan is that of the history then, or the history is gone. */
  async window(event: Extract<Happening, { kind: 'window' }>): Promise<void> {
    const { history, offload, settings } = this.bench;
    const config = event.isOther ? this.#other : settings;
    const { base } = history;
    const expected = planDensity(history.getAll(), config);
    const signal = event.isAborted ? this.#aborts.signal : undefined;
    try {
      const got = await offload.optimize(history.getRawHistory(), base, config, signal);
      this.#expectPlan(got, base, expected);
      if (!event.isApplied || base.revision !== history.revision || history.isCompressing) return;
      seen.applied += 1;
      const result = materializeDensityPlan(got.plan, history.getRawHistory());
      await history.applyDensityResult(result, got.base);
    } catch (error) {
      if (error !== ABORTED) throw error;
      seen.aborted += 1;
    }
  }

  #expectPlan(got: BasedPlan, base: DensityBase, expected: DensityPlan): void {
    expect(got.base).toEqual(base);
    if (got.tokensAfter !== undefined) seen.planned += 1;
    if (got.plan === EMPTY_PLAN) {
      seen.stale += 1;
      expect(this.bench.history.revision).not.toBe(base.revision);
    } else {
      expect(got.plan).toEqual(expected);
    }
  }

  async #count(contents: readonly IContent[]): Promise<void> {
    const counts = await this.bench.offload.countTokens(contents);
    expect(counts).toEqual([...countEachEntry(contents, countThirds)]);
  }
}

describe('ResidentOffload', () => {
  it('gives right plans and counts in every order of events, and recovers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        arbitraryHistory({ maxEntries: 40 }),
        arbitraryDensityConfig(),
        fc.constantFrom(1, 1, 8),
        fc.array(happening, { minLength: 5, maxLength: 40, size: 'max' }),
        async (scheduler, supply, other, minEntries, script) => {
          const bench = openBench(scheduler, minEntries);
          const { history, host, offload, pool } = bench;
          const play = new Play(bench, supply, other);
          for (const event of script) await play.happen(scheduler, event);
          await play.settle(scheduler);

          // Once nothing goes wrong any more, there is a line again, and it serves.
          host.refusalsAhead = 0;
          clockMs += 60_000;
          play.add(minEntries);
          await drain(scheduler);
          expect(host.openLines.length).toBe(1);
          const { base } = history;
          const asked = offload.optimize(history.getRawHistory(), base, bench.settings);
          const counted = history.waitForTokenUpdates();
          await drain(scheduler);
          const got = await asked;
          expect(got.plan).toEqual(planDensity(history.getAll(), bench.settings));
          expect(got.tokensAfter).toBeDefined();
          await counted;
          expect(history.getTotalTokens()).toBe(tokensOf(history.getAll()));
          expect(host.traffic.complaints).toEqual([]);
          expect(host.traffic.mostPlans).toBeLessThanOrEqual(1);

          offload.close();
          history.addAll([humanText('said after the end')]);
          await play.settle(scheduler);
          expect(host.openLines).toEqual([]);
          seen.runs += 1;
          seen.openings += host.traffic.openings;
          seen.refusals += host.traffic.refusals;
          seen.asked += host.traffic.plans;
          seen.residentCounts += pool.counted < history.additions ? 1 : 0;
        },
      ),
      { numRuns: 2_000 },
    );
    for (const [kind, times] of Object.entries(seen)) {
      expect([kind, times > 100]).toEqual([kind, true]);
    }
  }, 60_000);

  /** Runs a story in which the scheduler has little to choose. */
  async function tell(story: (scheduler: fc.Scheduler) => Promise<void>): Promise<void> {
    await fc.assert(fc.asyncProperty(fc.scheduler(), story), { numRuns: 20 });
  }

  function asks(
    { history, offload }: Bench,
    config: DensityConfig,
    signal?: AbortSignal,
  ): Promise<BasedPlan> {
    return offload.optimize(history.getRawHistory(), history.base, config, signal);
  }

  const OTHER: DensityConfig = { ...SETTINGS, recencyPruning: true, recencyRetention: 1 };

  it('asks once for those who ask the same, and for one pass after the other', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.history.addAll([humanText('hello')]);
      await drain(scheduler);
      const alike = [asks(bench, OTHER), asks(bench, { ...OTHER }), asks(bench, OTHER)];
      const different = asks(bench, { ...OTHER, fileDedupe: false });
      await drain(scheduler);
      const [first, ...others] = await Promise.all(alike);
      for (const other of others) expect(other).toBe(first);
      expect((await different).tokensAfter).toBeDefined();
      expect(bench.host.traffic).toMatchObject({ plans: 2, mostPlans: 1, complaints: [] });
    });
  });

  it('asks nothing about a state that is over', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.history.addAll([humanText('hello')]);
      await nextTurn();
      while (bench.host.traffic.deltas === 0) await scheduler.waitNext(1);
      // Its answer is under way when more is posted.
      const asked = asks(bench, OTHER);
      bench.history.addAll([humanText('and more')]);
      await nextTurn();
      expect(bench.host.traffic.deltas).toBe(2);
      await drain(scheduler);
      expect((await asked).base).toEqual({ revision: 0, length: 1 });
      expect(bench.host.traffic).toMatchObject({ plans: 0, complaints: [] });
      expect(bench.host.openLines.length).toBe(1);
    });
  });

  it('has the pass at hand when settings are as they were, and plans anew when they are not', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.history.addAll([humanText('hello')]);
      await drain(scheduler);
      await asks(bench, bench.settings);
      await asks(bench, { ...bench.settings, partialWritesSupersede: true });
      expect(bench.host.traffic.plans).toBe(0);
      bench.settings = OTHER;
      bench.history.addAll([humanText('more')]);
      await drain(scheduler);
      await asks(bench, OTHER);
      expect(bench.host.traffic.plans).toBe(0);
      for (const change of [
        { readWritePruning: false },
        { fileDedupe: false },
        { recencyPruning: false },
        { recencyRetention: 2 },
        { partialWritesSupersede: false },
      ]) {
        const before = bench.host.traffic.plans;
        const asked = asks(bench, { ...OTHER, ...change });
        await drain(scheduler);
        await asked;
        expect(bench.host.traffic.plans).toBe(before + 1);
      }
    });
  });

  it('posts a long text history bit by bit, and never much that is not answered', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 30);
      // The last of them moves in as one; all of them are 27 million characters.
      const contents = Array.from({ length: 30 }, (_, at) => humanText('x'.repeat(900_000 + at)));
      for (const content of contents) bench.history.addAll([content]);
      await drain(scheduler);
      const { traffic, openLines } = bench.host;
      expect(openLines.length).toBe(1);
      expect(traffic.deltas).toBe(30);
      expect(traffic.mostCharacters).toBeGreaterThan(3 * MAX_BATCH_CHARACTERS);
      expect(traffic.mostCharacters).toBeLessThanOrEqual(5 * MAX_BATCH_CHARACTERS);
      expect((await asks(bench, SETTINGS)).tokensAfter).toBeDefined();
    });
  });

  it('opens no line for a short history, and counts by the pool then', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      bench.history.addAll([humanText('1'), humanText('2')]);
      await drain(scheduler);
      expect(bench.host.traffic.openings).toBe(0);
      expect(bench.pool.counted).toBe(2);
      expect((await asks(bench, SETTINGS)).tokensAfter).toBeUndefined();
      bench.history.addAll([humanText('3')]);
      await drain(scheduler);
      expect(bench.host.traffic.openings).toBe(1);
      expect(bench.pool.counted).toBe(2);
    });
  });

  it('leaves counts to the pool when the session counts by a way of its own', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 1, false);
      bench.history.addAll([humanText('hello')]);
      const settled = bench.history.waitForTokenUpdates();
      await drain(scheduler);
      await settled;
      expect(bench.pool.counted).toBe(1);
      expect((await asks(bench, SETTINGS)).tokensAfter).toBeDefined();
    });
  });

  it('rests after three failures in a row, and tries again even when a trial was called off', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      const { host, history, offload } = bench;
      const addOne = async (): Promise<void> => {
        history.addAll([humanText('hello')]);
        await drain(scheduler);
      };
      host.refusalsAhead = 3;
      for (let time = 0; time < 5; time += 1) await addOne();
      expect(host.traffic).toMatchObject({ refusals: 3, openings: 0 });
      clockMs += 60_000;
      history.addAll([humanText('begins a trial')]);
      offload.letGo();
      await drain(scheduler);
      expect(host.openLines).toEqual([]);
      await addOne();
      expect(host.openLines.length).toBe(1);
    });
  });

  it('opens another line with the first change after one died at rest', async () => {
    await tell(async (scheduler) => {
      const { history, host } = openBench(scheduler);
      history.addAll([humanText('hello')]);
      await drain(scheduler);
      const [line] = host.openLines;
      line?.fail(new WorkerPoolError('The thread died.', 'WORKER_DIED'));
      history.addAll([humanText('and more')]);
      await drain(scheduler);
      expect(host.openLines.length).toBe(1);
      expect(host.traffic.openings).toBe(2);
    });
  });

  it('passes the reason of a signal on, before and while it waits', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      const aborts = new AbortController();
      bench.history.addAll([humanText('hello')]);
      const [content] = bench.history.getAll();
      const waits = [
        asks(bench, SETTINGS, aborts.signal),
        bench.offload.countTokens(content === undefined ? [] : [content], aborts.signal),
      ];
      aborts.abort(ABORTED);
      for (const wait of waits) await expect(wait).rejects.toBe(ABORTED);
      await expect(asks(bench, SETTINGS, aborts.signal)).rejects.toBe(ABORTED);
      await drain(scheduler);
      expect(bench.host.openLines.length).toBe(1);
    });
  });
});
