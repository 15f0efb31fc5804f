// One residence of a history in a worker: what its connection is asked for, and how much is posted at once.

import { describe, expect, it } from 'vitest';
import { MAX_HELD_PARCELS } from '../../../src/main/offload/in-flight-parcels.js';
import { MAX_BATCH_CHARACTERS } from '../../../src/main/offload/posted-entry.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import {
  DEFAULT_WORKING_SET,
  WORKING_SET_RULE_NAMES,
} from '../../../src/shared/density/rules/working-set-rules.js';
import { REACH_RESULTS } from '../../../src/shared/density/index/unsent-results.js';
import { planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { countEachEntry } from '../../support/count-each-entry.js';
import { countThirds } from '../../support/piece-counters.js';
import { RESIDENT_AGENT } from '../../support/resident-session.js';
import { asks, drain, openBench, SETTINGS, tell } from '../../support/resident-bench.js';

const OTHER: DensityConfig = { ...SETTINGS, recencyPruning: true, recencyRetention: 1 };

describe('Residence', () => {
  it('ends if the host has changed an entry that is to be posted', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      const entry = humanText('hello');
      bench.history.addAll([entry]);
      Object.assign(entry, { blocks: undefined });
      await drain(scheduler);
      expect(bench.meter.stats).toMatchObject({ failures: 1, fallbacks: 1 });
    });
  });

  it('answers each of several requests with a pass of its own settings', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.history.addAll([humanText('hello')]);
      await drain(scheduler);
      const one = asks(bench, OTHER);
      const other = asks(bench, { ...OTHER, fileDedupe: false });
      await drain(scheduler);
      for (const { tokensAfter } of await Promise.all([one, other]))
        expect(tokensAfter).toBeDefined();
      expect(bench.host.traffic).toMatchObject({ plans: 2, complaints: [] });
    });
  });

  it('asks for no plan of an outdated state', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.history.addAll([humanText('hello')]);
      await nextTurn();
      while (bench.host.traffic.deltas === 0) await scheduler.waitNext(1);
      // Its reply is under way when more is posted.
      const asked = asks(bench, OTHER);
      bench.history.addAll([humanText('and more')]);
      await nextTurn();
      expect(bench.host.traffic.deltas).toBe(2);
      await drain(scheduler);
      expect((await asked).plan).toEqual(planWithTexts([humanText('hello')], OTHER).plan);
      expect(bench.host.traffic).toMatchObject({ plans: 0, complaints: [] });
      expect(bench.host.openConnections.length).toBe(1);
    });
  });

  it('has the plan ready when settings are unchanged, and asks for a new one when they differ', async () => {
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
        { workingSet: { ...DEFAULT_WORKING_SET } },
      ]) {
        bench.history.addAll([humanText('more')]);
        await drain(scheduler);
        const before = bench.host.traffic.plans;
        const asked = asks(bench, { ...OTHER, ...change });
        await drain(scheduler);
        await asked;
        expect(bench.host.traffic.plans).toBe(before + 1);
      }
    });
  });

  it('has the plan ready for a working set with the same rules, and for no other', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.settings = { ...OTHER, workingSet: DEFAULT_WORKING_SET };
      const plansFor = async (change: Partial<DensityConfig>): Promise<number> => {
        bench.history.addAll([humanText('more')]);
        await drain(scheduler);
        const before = bench.host.traffic.plans;
        const asked = asks(bench, { ...bench.settings, ...change });
        await drain(scheduler);
        await asked;
        return bench.host.traffic.plans - before;
      };
      expect(await plansFor({})).toBe(0);
      expect(await plansFor({ workingSet: { ...DEFAULT_WORKING_SET } })).toBe(0);
      expect(await plansFor({ partialWritesSupersede: false })).toBe(0);
      expect(await plansFor({ partialWritesSupersede: true })).toBe(1);
      for (const name of WORKING_SET_RULE_NAMES) {
        const workingSet = { ...DEFAULT_WORKING_SET, [name]: DEFAULT_WORKING_SET[name] + 1 };
        expect(await plansFor({ workingSet })).toBe(1);
      }
      const { workingSet: _, ...without } = bench.settings;
      bench.settings = without;
      expect(await plansFor({})).toBe(0);
      expect(await plansFor({ workingSet: DEFAULT_WORKING_SET })).toBe(1);
    });
  });

  it('posts the settings of a pass, without those that its connection was opened with', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      bench.settings = { ...OTHER, toolCatalog: {}, workingSet: DEFAULT_WORKING_SET };
      bench.history.addAll([humanText('hello')]);
      await drain(scheduler);
      const {
        workspaceRoot: _,
        toolCatalog: __,
        inclusionSyntaxes: ___,
        ...settings
      } = bench.settings;
      expect(bench.host.traffic.lastPass).toEqual(settings);
    });
  });

  it('asks for a pass when something was added, and not after an edit alone', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      const { history, host } = bench;
      const passesFor = async (...changes: (() => unknown)[]): Promise<readonly number[]> => {
        const { deltas, passes } = host.traffic;
        for (const change of changes) change();
        await drain(scheduler);
        return [host.traffic.deltas - deltas, host.traffic.passes - passes];
      };
      const add = (characters = 1): void => {
        history.addAll([humanText('x'.repeat(characters))]);
      };
      const remove = (): Promise<void> =>
        history.applyDensityResult({ ...NO_EDITS, removals: [0] }, history.base);
      expect(await passesFor(add)).toEqual([1, 1]);
      expect(await passesFor(add, remove)).toEqual([1, 1]);
      expect(await passesFor(remove)).toEqual([1, 0]);
      expect(await passesFor(add, add)).toEqual([1, 1]);
      // The addition is posted first, without asking for a pass, because more follows.
      const large = (): void => {
        add(MAX_BATCH_CHARACTERS);
      };
      const replace = (): Promise<void> => {
        const replacements = new Map([[0, humanText('y'.repeat(MAX_BATCH_CHARACTERS))]]);
        return history.applyDensityResult({ ...NO_EDITS, replacements }, history.base);
      };
      expect(await passesFor(large, replace)).toEqual([2, 1]);
      expect((await asks(bench, SETTINGS)).tokensAfter).toBeDefined();
      expect(host.traffic).toMatchObject({ plans: 0, complaints: [] });
    });
  });

  it('posts no edit while its replacement is being counted', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler);
      const { history, host, pool } = bench;
      history.addAll([humanText('hello'), humanText('and more')]);
      await drain(scheduler);
      const replacements = new Map([[0, humanText('hey')]]);
      const landed = history.applyDensityResult({ ...NO_EDITS, replacements }, history.base);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect([pool.counted, host.traffic.deltas]).toEqual([1, 1]);
      // A caller who asks for a plan meanwhile does not wait for the count.
      history.addAll([humanText('added')]);
      const asked = asks(bench, SETTINGS);
      await nextTurn();
      expect(host.traffic.deltas).toBe(2);
      await drain(scheduler);
      await landed;
      expect((await asked).tokensAfter).toBeDefined();
      const other = new Map([[0, humanText('hey there')]]);
      const again = history.applyDensityResult({ ...NO_EDITS, replacements: other }, history.base);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      await drain(scheduler);
      await again;
      expect(host.traffic).toMatchObject({ deltas: 3, complaints: [] });
    });
  });

  it('posts a long text history bit by bit, and limits what is unanswered', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 12);
      bench.host.countsFrom = Infinity;
      const contents = Array.from({ length: 12 }, (_, at) => humanText('x'.repeat(900_000 + at)));
      for (const content of contents) bench.history.addAll([content]);
      const { host } = bench;
      while (host.openConnections.length === 0) await scheduler.waitNext(1);
      const { traffic } = host;
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      expect(traffic.deltas).toBe(5);
      await drain(scheduler);
      expect(traffic.deltas).toBe(12);
      // A plan is of no use while more is on its way.
      expect(traffic.passes).toBe(1);
      expect(traffic.mostCharacters).toBeLessThanOrEqual(5 * MAX_BATCH_CHARACTERS);
      expect((await asks(bench, SETTINGS)).tokensAfter).toBeDefined();
    }, 3);
  });

  it('has several threads count a long history, and knows the total before the connection has all of it', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      const { host, history, pool } = bench;
      const contents = Array.from({ length: 1_000 }, (_, at) => humanText(`entry ${at}`));
      // The second and the fourth count are lost on their way.
      host.lostCounts.push(2, 4);
      history.addAll(contents);
      await drain(scheduler);
      expect(host.traffic).toMatchObject({ deltas: 4, counts: 2, lostCounts: 2, passes: 1 });
      expect(host.traffic.complaints).toEqual([]);
      expect(pool.counted).toBe(0);
      expect(history.isCounted).toBe(true);
      const tokens = countEachEntry(contents, countThirds).reduce((sum, count) => sum + count, 0);
      expect(history.getTotalTokens()).toBe(tokens);
      const asked = asks(bench, SETTINGS);
      expect((await asked).tokensAfter).toBeDefined();
      expect(host.traffic.plans).toBe(0);
    }, 10);
  });

  it('holds few of many small parcels', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      bench.history.addAll(Array.from({ length: 8_000 }, (_, at) => humanText(`entry ${at}`)));
      await drain(scheduler);
      expect(bench.history.isCounted).toBe(true);
      expect(bench.host.traffic.counts).toBeGreaterThan(25);
      expect(bench.host.mostHeld).toBeLessThanOrEqual(MAX_HELD_PARCELS);
    }, 3);
  });

  it('posts what is counted when a caller waits for a plan, while the rest is still being counted', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      const { host, history } = bench;
      history.addAll(Array.from({ length: 600 }, (_, at) => humanText(`entry ${at}`)));
      await nextTurn();
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      const asked = asks(bench, SETTINGS);
      await drain(scheduler);
      expect((await asked).tokensAfter).toBeDefined();
      expect(host.traffic.complaints).toEqual([]);
    }, 10);
  });

  it('stops counting once it has ended', async () => {
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      const { host, history, offload, pool } = bench;
      history.addAll(Array.from({ length: 600 }, (_, at) => humanText(`entry ${at}`)));
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(host.countSignals.length).toBeGreaterThan(0);
      offload.release();
      expect(host.countSignals.every(({ aborted }) => aborted)).toBe(true);
      await drain(scheduler);
      // The pool has counted what the ledger was waiting for.
      expect(history.isCounted).toBe(true);
      expect(pool.counted).toBe(600);
      expect(host.traffic.deltas).toBe(0);
    }, 10);
  });

  it('notes no lines of results far from the end, and still finds lines that earlier results show', async () => {
    const connections = (result: number): string =>
      Array.from(
        { length: 12 },
        (_, at) => `result ${result} has the line ${at} ${'-'.repeat(30)}`,
      ).join('\n');
    const asked = (id: string, result: string): IContent[] => [
      aiContent([toolCall(id, 'read_file', { absolute_path: `/w/${id}` })]),
      toolContent([toolResponse(id, 'read_file', result)]),
    ];
    const results = REACH_RESULTS + 400;
    const history = Array.from({ length: results }, (_, at) =>
      asked(`c${at}`, connections(at)),
    ).flat();
    // As many results follow the last model message: the first of them shows the same lines as the one before that message.
    const unsent = Array.from({ length: results }, (_, at) =>
      asked(`u${at}`, connections(results + at)),
    );
    unsent[results - 1] = asked(`u${results - 1}`, connections(results - 1));
    const parallel = [
      aiContent(unsent.flatMap(([{ blocks } = aiContent([])]) => blocks)),
      ...unsent.flatMap((entries) => entries.slice(1)).toReversed(),
    ];
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      bench.settings = { ...SETTINGS, shrink: 'default' };
      bench.history.addAll([...history, ...parallel]);
      await drain(scheduler);
      const got = await asks(bench, bench.settings);
      expect(got.texts?.length).toBeGreaterThan(0);
      const config = { ...bench.settings, ...RESIDENT_AGENT };
      const { plan, texts } = planWithTexts(bench.history.getAll(), config);
      expect(got).toMatchObject({ plan, texts });
      expect(bench.host.traffic).toMatchObject({ openings: 1, complaints: [] });
    }, 1);
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      bench.settings = { ...SETTINGS, shrink: 'default' };
      bench.history.addAll(history);
      await drain(scheduler);
      expect(bench.host.traffic.farDeltas).toBeGreaterThan(1);
      const near = connections(results - 200);
      // The first result is too far away to be searched, here as in the inline pass.
      bench.history.addAll([...asked('near', near), ...asked('far', connections(0))]);
      bench.history.addAll(asked('both', `${near}\n${connections(1)}`));
      await drain(scheduler);
      const got = await asks(bench, bench.settings);
      const { plan, texts } = planWithTexts(bench.history.getAll(), {
        ...bench.settings,
        ...RESIDENT_AGENT,
      });
      expect(texts?.length).toBeGreaterThan(0);
      expect(got).toMatchObject({ plan, texts });
      expect(bench.host.traffic).toMatchObject({ openings: 1, complaints: [] });
    }, 1);
    // A later edit removes the results that would put others out of reach.
    await tell(async (scheduler) => {
      const bench = openBench(scheduler, 3);
      bench.settings = { ...SETTINGS, shrink: 'default' };
      bench.history.addAll(history);
      const removals = history.flatMap((_, at) => (at < 2 * 400 ? [] : [at]));
      void bench.history.applyDensityResult({ ...NO_EDITS, removals }, bench.history.base);
      await drain(scheduler);
      expect(bench.host.traffic).toMatchObject({ openings: 1, farDeltas: 0, complaints: [] });
    }, 1);
  });
});
