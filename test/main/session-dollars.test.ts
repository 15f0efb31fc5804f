// What a session's requests cost in dollars, and how edits follow the price of the model.

import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { inputCost, modelPrice, ModelPrices } from '../../src/main/models/model-prices.js';
import { MODEL_PRICES_DATE } from '../../src/main/models/price-table.js';
import { DEFAULT_WORKING_SET } from '../../src/shared/density/rules/working-set-rules.js';
import { runs } from '../support/scale.js';
import { workingHistory } from '../support/working-notation.js';

let compactor: Compactor;

afterEach(() => compactor.close());

function open(prices?: CompactorOptions['prices'], contextLimit?: number): Compactor {
  compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/work', prices },
    contextLimit,
  });
  return compactor;
}

/** A command's output of 5,000 tokens, then that many calls with results of 300 tokens. */
const HISTORY = workingHistory(
  `run(0)=5000 ${Array.from({ length: 24 }, (_, at) => `read(${at}.ts)=300`).join(' ')} a`,
);

/** The request at which the output is removed. */
async function leavesAt(modelName: string | undefined): Promise<number> {
  const session = await compactor.createSession({
    density: { shrink: 'off', workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0 } },
  });
  if (modelName !== undefined) session.history.nameModel(modelName);
  let requests = 0;
  for (const entry of HISTORY) {
    if (entry.speaker === 'ai') {
      requests += 1;
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      if (pruned !== null) return requests;
    }
    session.history.add(entry);
  }
  return Infinity;
}

describe("edits: 'auto'", () => {
  it('waits for more where rewrites are expensive compared to reads, and never lands where reads are free', async () => {
    const free = { input: 1, cacheRead: 0, cacheWrite: 1 };
    open({ local: free, cheap: { input: 1, cacheRead: 0.9, cacheWrite: 1 } });
    const unknown = await leavesAt(undefined);
    expect(unknown).toBeLessThan(Infinity);
    expect(await leavesAt('claude-opus-4-5')).toBe(unknown);
    expect(await leavesAt('some-model')).toBe(unknown);
    expect(await leavesAt('cheap')).toBeLessThanOrEqual(unknown);
    expect(await leavesAt('local')).toBe(Infinity);
    await compactor.close();
    open({ '*': free, 'claude-opus-4-5': modelPrice('claude-opus-4-5')! });
    expect(await leavesAt(undefined)).toBe(Infinity);
    expect(await leavesAt('claude-sonnet-4-5')).toBe(Infinity);
    expect(await leavesAt('claude-opus-4-5')).toBe(unknown);
  });
});

describe('an edit of a prefix too short to be cached', () => {
  it.each([
    ['claude-opus-4-6', true],
    ['claude-fable-5-2', false],
  ])('costs nothing: %s, %s', async (modelName, isFree) => {
    open();
    const session = await compactor.createSession({
      density: { shrink: 'off', workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0 } },
    });
    session.history.nameModel(modelName);
    const reasons: string[] = [];
    // Some 3,000 tokens, of which 300 are stale; the 600 behind them would be written anew.
    const entries = workingHistory('read(z.ts)=1000 read(a.ts)=100 write(a.ts)=1 read(b.ts)=600 a');
    for (const entry of entries) {
      if (entry.speaker === 'ai') {
        const { pruned } = await session.ensureCompressionBeforeSend('p');
        reasons.push(pruned?.reason ?? 'held');
      }
      session.history.add(entry);
    }
    await session.ensureCompressionBeforeSend('p');
    expect(reasons.includes('cache-cold')).toBe(isFree);
  });
});

describe('the cost of a session', () => {
  it('is never much above that of sending everything, whatever edits the rules would pay for', async () => {
    // A cut to fit the window is not postponed.
    open(undefined, 100_000_000);
    const result = fc.tuple(fc.constantFrom('run', 'read'), fc.constantFrom(20, 300, 2_000, 9_000));
    const model = fc.constantFrom('claude-sonnet-4-5', 'claude-opus-5-5', 'claude-fable-5-2');
    let landings = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(result, { minLength: 10, maxLength: 40 }),
        model,
        async (results, modelName) => {
          const rash = {
            ...DEFAULT_WORKING_SET,
            outputCalls: 8,
            paybackCalls: 1_000,
            freeTokens: 0,
          };
          const session = await compactor.createSession({
            density: { shrink: 'off', workingSet: rash },
            edits: 'auto',
          });
          session.history.nameModel(modelName);
          const calls = results.map(([kind, tokens], at) => `${kind}(${at})=${tokens}`);
          for (const entry of workingHistory([...calls, 'a'].join(' '))) {
            if (entry.speaker === 'ai') {
              const { pruned } = await session.ensureCompressionBeforeSend('p');
              if (pruned?.reason === 'reclaims-enough') landings += 1;
              const { with: paid, without } = session.costs().dollars!;
              // What an edit reclaims is an estimate until it is counted.
              expect(paid).toBeLessThanOrEqual(1.051 * without);
            }
            session.history.add(entry);
          }
          await session.close();
        },
      ),
      { numRuns: runs(1_000, 8) },
    );
    expect(landings).toBeGreaterThan(0);
  });
});

describe('costs', () => {
  it('are dollars, with and without edits, and the savings of the rules are the difference', async () => {
    open();
    const session = await compactor.createSession({
      density: { shrink: 'off', workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0 } },
    });
    session.history.nameModel('claude-sonnet-4-5');
    for (const entry of HISTORY) {
      if (entry.speaker === 'ai') await session.ensureCompressionBeforeSend('p');
      session.history.add(entry);
    }
    const { dollars, sentTokens, cacheReadTokens, uncompacted } = session.costs();
    const price = modelPrice('claude-sonnet-4-5')!;
    expect(dollars?.with).toBeCloseTo(inputCost(price, sentTokens, cacheReadTokens), 9);
    expect(dollars?.without).toBeCloseTo(
      inputCost(price, uncompacted.sentTokens, uncompacted.cacheReadTokens),
      9,
    );
    const { savedBy, ...sums } = dollars!;
    const saved = Object.values(savedBy).reduce((sum, each) => sum + each, 0);
    expect(saved).toBeCloseTo(sums.without - sums.with, 9);
    expect(savedBy['working-set']).toBeGreaterThan(0);
    expect(savedBy).not.toHaveProperty('compression');
    // The rules account for all of it: nothing was compressed.
    expect(savedBy.other).toBe(0);
  });

  it('name what shrinking has saved, which is never written to the cache', async () => {
    open();
    const session = await compactor.createSession();
    session.history.nameModel('claude-sonnet-4-5');
    for (const entry of workingHistory('read(a.ts)=3000 run(0)=5000 read(b.ts)=300 a')) {
      if (entry.speaker === 'ai') await session.ensureCompressionBeforeSend('p');
      session.history.add(entry);
    }
    const { savedBy, ...sums } = session.costs().dollars!;
    expect(savedBy.shrink).toBeCloseTo(sums.without - sums.with, 9);
  });

  it("are those above a step of the model's price once prompt and overhead together are longer", async () => {
    const base = { input: 1, cacheRead: 1, cacheWrite: 1 };
    const step = { promptTokens: 20_000, input: 3, cacheRead: 3, cacheWrite: 3 };
    open({ local: { ...base, above: step } }, 100_000);
    for (const [overheadTokens, price] of [
      [0, 1],
      [19_000, 3],
    ] as const) {
      const session = await compactor.createSession({
        ...{ history: HISTORY.slice(0, 2), overheadTokens, density: { shrink: 'off' } },
      });
      session.history.nameModel('local');
      await session.ensureCompressionBeforeSend('p');
      const { dollars, sentTokens } = session.costs();
      expect(dollars?.with).toBeCloseTo((price * sentTokens) / 1e6, 9);
      expect(dollars?.without).toBeCloseTo(dollars!.with, 9);
    }
  });

  it('name the savings of compressions besides the rules, in later sessions of the history, too', async () => {
    open(undefined, 10_000);
    const session = await compactor.createSession({ edits: 'every-turn' });
    session.settings.set('compression.strategy', 'high-density');
    session.history.nameModel('claude-sonnet-4-5');
    let compressions = 0;
    session.on('compressed', ({ outcome }) => (compressions += outcome === 'applied' ? 1 : 0));
    const long = workingHistory(
      Array.from({ length: 60 }, (_, at) => `read(${at}.ts)=300`).join(' '),
    );
    for (const entry of long) {
      if (entry.speaker === 'ai') await session.ensureCompressionBeforeSend('p');
      session.history.add(entry);
    }
    expect(compressions).toBeGreaterThan(0);
    const { savedBy, ...sums } = session.costs().dollars!;
    const saved = sums.without - sums.with;
    expect(savedBy.compression).toBeGreaterThan(0.2 * saved);
    expect(Math.abs(savedBy.other ?? 0)).toBeLessThan(0.02 * saved);
    const state = session.snapshot();
    const next = await compactor.createSession({ edits: 'every-turn', history: long, state });
    expect(next.costs().dollars?.savedBy.compression).toBeCloseTo(savedBy.compression!, 9);
  });

  it('count the savings of rules no further once the history is cleared', async () => {
    open();
    const session = await compactor.createSession({
      density: { shrink: 'off', workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0 } },
    });
    session.history.nameModel('claude-sonnet-4-5');
    for (let round = 0; round < 3; round += 1) {
      session.history.clear();
      // All at once: the first preflight already edits.
      session.history.addAll(HISTORY);
      for (let requests = 0; requests < 5; requests += 1) {
        await session.ensureCompressionBeforeSend('p');
      }
    }
    const { savedBy, ...sums } = session.costs().dollars!;
    expect(savedBy['working-set']).toBeCloseTo(sums.without - sums.with, 9);
  });

  it('have no dollars while a price is unknown', async () => {
    open();
    const session = await compactor.createSession();
    await session.ensureCompressionBeforeSend('p');
    expect(session.costs().dollars).toBeUndefined();
    const next = await compactor.createSession({ state: session.snapshot(), history: [] });
    for (const each of [session, next]) {
      each.history.nameModel('claude-sonnet-4-5');
      await each.ensureCompressionBeforeSend('p');
      expect(each.costs().dollars).toBeUndefined();
    }
  });
});

describe('prices', () => {
  it.each([
    { m: { input: -1, cacheRead: 0, cacheWrite: 1 } },
    { m: { input: 1, cacheRead: NaN, cacheWrite: 1 } },
    { m: { input: 1, cacheRead: Infinity, cacheWrite: 1 } },
    { m: { input: 1 } },
    { m: { input: 1, cacheRead: 0.1, cacheWrite: 1, reads: 3 } },
    { '': { input: 1, cacheRead: 0.1, cacheWrite: 1 } },
  ])('of %j are refused, by name', (prices) => {
    expect(() => createCompactor({ prices: prices as never })).toThrow(/prices/);
  });

  it('suggest a known name for an unknown one', () => {
    const price = { input: 1, cacheReed: 0.1, cacheWrite: 1 };
    expect(() => createCompactor({ prices: { m: price } as never })).toThrow(
      "did you mean 'cacheRead'?",
    );
  });

  it('are reported as old once, half a year after the date in the table', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const warn = vi.fn();
    const prices = (): ModelPrices => new ModelPrices({}, { ...SILENT_LOGGER, warn });
    vi.setSystemTime(Date.parse(MODEL_PRICES_DATE) + 182 * 86_400_000);
    prices().of('claude-opus-5-5');
    expect(warn).not.toHaveBeenCalled();
    vi.setSystemTime(Date.parse(MODEL_PRICES_DATE) + 183 * 86_400_000);
    const old = prices();
    for (const model of ['some-model', 'claude-opus-5-5', 'gpt-6.2-sol']) old.of(model);
    expect(warn.mock.calls).toEqual([[expect.any(String), { date: MODEL_PRICES_DATE }]]);
  });
});
