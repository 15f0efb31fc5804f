// A session's resident history in every order of events that a scheduler finds: whatever is lost, late or refused, every promise settles, plans and counts are
// right, and a new connection follows.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import type { OffloadedPlan } from '../../../src/main/offload/offload.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import type { DensityBase, DensityConfig } from '../../../src/shared/density.js';
import { HistoryIndex } from '../../../src/shared/density/index/history-index.js';
import { materializeDensityPlan } from '../../../src/shared/density/plan/materialize.js';
import { optimize, planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { EMPTY_PLAN } from '../../../src/shared/density/plan/plan.js';
import type { DensityPlan } from '../../../src/shared/density/plan/plan.js';
import { WorkerPoolError } from '../../../src/shared/errors.js';
import { countEachEntry } from '../../support/count-each-entry.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../../support/arbitrary-history.js';
import { countThirds } from '../../support/piece-counters.js';
import { asks, drain, openBench, SETTINGS, tell } from '../../support/resident-bench.js';
import type { Bench } from '../../support/resident-bench.js';
import { RESIDENT_AGENT } from '../../support/resident-session.js';
import { runs, sightings } from '../../support/scale.js';

const ABORTED = new Error('the turn was called off');

type Happening =
  | { readonly kind: 'add'; readonly count: number }
  /** Asks for a pass; with `isOther`, with unexpected settings. Applies its plan with `isApplied`. */
  | {
      readonly kind: 'window';
      readonly times: number;
      readonly isOther: boolean;
      readonly isAborted: boolean;
      readonly isApplied: boolean;
    }
  | { readonly kind: 'count' }
  | { readonly kind: 'refuse' | 'loseCounts'; readonly times: number }
  | {
      readonly kind:
        | 'prune'
        | 'rewrite'
        | 'clear'
        | 'settings'
        | 'abort'
        | 'lose'
        | 'release'
        | 'turn'
        | 'answer';
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
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('refuse' as const, 'loseCounts' as const),
      times: fc.constantFrom(1, 2, 4),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['prune', 'rewrite', 'clear', 'settings', 'abort', 'lose', 'release'] as const),
        ...(['turn', 'turn', 'turn', 'turn', 'turn', 'turn', 'turn'] as const),
        ...(['answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'answer'] as const),
      ),
    }),
  },
);

/** What has occurred in the interleavings. */
const seen = {
  ...{ runs: 0, openings: 0, refusals: 0, losses: 0, lettingsGo: 0, planned: 0, asked: 0 },
  ...{ applied: 0, stale: 0, aborted: 0, residentCounts: 0, apart: 0, lostCounts: 0 },
};

let clockMs = 0;
beforeEach(() => {
  clockMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clockMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function tokensOf(contents: readonly IContent[]): number {
  return countEachEntry(contents, countThirds).reduce((sum, tokens) => sum + tokens, 0);
}

/** Plays a script and compares all results with the history itself. */
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

  /** All requests without an answer. */
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
      case 'loseCounts':
        host.lostCounts.push(host.countSignals.length + event.times);
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
        for (const line of host.openConnections) {
          seen.losses += 1;
          line.fail(new WorkerPoolError('The thread died.', 'WORKER_DIED'));
        }
        return;
      case 'release':
        seen.lettingsGo += 1;
        offload.release();
        return;
      case 'turn':
        await nextTurn();
        return;
      case 'answer':
        if (scheduler.count() > 0) await scheduler.waitNext(1);
    }
  }

  /** Asks for a pass; the plan is that of the history at that time, or the history is gone. */
  async window(event: Extract<Happening, { kind: 'window' }>): Promise<void> {
    const { history, offload, settings } = this.bench;
    const config = event.isOther ? this.#other : settings;
    const { base } = history;
    const expected = planWithTexts(history.getAll(), config).plan;
    const signal = event.isAborted ? this.#aborts.signal : undefined;
    try {
      const got = await offload.optimize(history.getRawHistory(), base, config, signal);
      this.#expectPlan(got, base, expected);
      if (!event.isApplied || base.revision !== history.revision || history.isCompressing) return;
      seen.applied += 1;
      const result = materializeDensityPlan(got.plan, history.getRawHistory(), config);
      await history.applyDensityResult(result, base);
    } catch (error) {
      if (error !== ABORTED) throw error;
      seen.aborted += 1;
    }
  }

  #expectPlan(got: OffloadedPlan, base: DensityBase, expected: DensityPlan): void {
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
  it('returns right plans and counts in every order of events, and recovers', async () => {
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

          // Once nothing fails any more, there is a connection again, and it works.
          host.refusalsAhead = 0;
          clockMs += 60_000;
          play.add(minEntries);
          await drain(scheduler);
          expect(host.openConnections.length).toBe(1);
          const { base } = history;
          const asked = offload.optimize(history.getRawHistory(), base, bench.settings);
          const counted = history.waitForTokenUpdates();
          await drain(scheduler);
          const got = await asked;
          expect(got.plan).toEqual(planWithTexts(history.getAll(), bench.settings).plan);
          expect(got.tokensAfter).toBeDefined();
          await counted;
          expect(history.getTotalTokens()).toBe(tokensOf(history.getAll()));
          expect(host.traffic.complaints).toEqual([]);

          offload.close();
          history.addAll([humanText('said after the end')]);
          await play.settle(scheduler);
          expect(host.openConnections).toEqual([]);
          seen.runs += 1;
          seen.openings += host.traffic.openings;
          seen.refusals += host.traffic.refusals;
          seen.asked += host.traffic.plans;
          seen.apart += host.traffic.counts;
          seen.lostCounts += host.traffic.lostCounts;
          seen.residentCounts += pool.counted < history.additions ? 1 : 0;
        },
      ),
      { numRuns: runs(2_000) },
    );
    for (const [kind, times] of Object.entries(seen)) {
      expect([kind, times > sightings(40)]).toEqual([kind, true]);
    }
  });

  it('opens no connection for a short history, and has the pool count it', async () => {
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

  it('indexes no entry again after an edit while there is no connection', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 1_000);
      const { history } = bench;
      history.addAll(Array.from({ length: 200 }, (_, at) => humanText(`entry ${at}`)));
      await drain(scheduler);
      await asks(bench, SETTINGS);
      const append = vi.spyOn(HistoryIndex.prototype, 'append');
      const edit = { ...NO_EDITS, removals: [3, 5] };
      await history.applyDensityResult(edit, history.base);
      await drain(scheduler);
      await asks(bench, SETTINGS);
      expect(append).not.toHaveBeenCalled();
      append.mockRestore();
    }, 1);
  });

  it('leaves counts to the pool when the session has its own counter', async () => {
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

  it('pauses after three consecutive failures, and after another pause if a trial was cancelled', async () => {
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
      offload.release();
      await drain(scheduler);
      expect(host.openConnections).toEqual([]);
      clockMs += 60_000;
      await addOne();
      expect(host.openConnections.length).toBe(1);
    });
  });

  it('opens another connection with the first change after one died while idle', async () => {
    await tell(async (scheduler) => {
      const { history, host } = openBench(scheduler);
      history.addAll([humanText('hello')]);
      await drain(scheduler);
      const [line] = host.openConnections;
      line?.fail(new WorkerPoolError('The thread died.', 'WORKER_DIED'));
      history.addAll([humanText('and more')]);
      await drain(scheduler);
      expect(host.openConnections.length).toBe(1);
      expect(host.traffic.openings).toBe(2);
    });
  });

  it('rejects with the reason of a signal, before and while it waits', async () => {
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
      expect(bench.host.openConnections.length).toBe(1);
    });
  });
});
