// From which place on an edit is worth the prompt cache that it costs.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { belowStepFrom, worthwhileFrom } from '../../../src/main/preflight/edit-policy.js';
import { spendable, TokenTally } from '../../../src/main/preflight/token-tally.js';
import { aiContent, humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import type { CachePrices } from '../../../src/shared/density/rules/rewrite-price.js';
import { ACTION } from '../../../src/shared/density/rules/marks.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';

const HISTORY = Array.from({ length: 6 }, (_, at) => humanText(`entry ${at}`));

/** Removes these entries; all entries have 1,000 tokens. */
function from(
  removals: readonly number[],
  sentEntries: number,
  tokens = 1_000,
  spendableNow?: number,
  minCachedTokens?: number,
): number {
  return worthwhileFrom({
    result: { removals, replacements: new Map() },
    history: HISTORY,
    sentEntries,
    spendable: spendableNow,
    minCachedTokens,
    prices: { read: 0.1, write: 1.25 },
    countedTokens: (entry) => (HISTORY.indexOf(entry) < 5 ? tokens : 10 * tokens),
  });
}

describe('worthwhileFrom', () => {
  it('takes edits with nothing sent behind them', () => {
    expect([from([5], 5), from([5], 6), from([3], 4)]).toEqual([5, 5, 3]);
  });

  it('waits while too much that was sent stands behind', () => {
    // 1,000 tokens for 40 calls at 0.1 are 4,000; to write 10,000 more at 1.15 more is 11,500.
    expect(from([4], 6)).toBe(Infinity);
    // What was not sent is written anyway.
    expect(from([4], 5)).toBe(4);
  });

  it('takes the place that pays best', () => {
    expect(from([0, 4], 5)).toBe(0);
    expect(from([0, 5], 6)).toBe(5);
    expect(from([], 6)).toBe(Infinity);
  });
});

/** One call of a session: how much is new, and which older results are stale from then on. */
interface PlayedCall {
  readonly tokens: number;
  readonly stale: readonly number[];
}

/**
 * Input costs of a session whose stale results are removed by the rule, and a lower bound for every schedule: each token is written once, and read by every
 * later call until it is stale.
 */
function costsOf(
  calls: readonly PlayedCall[],
  prices: CachePrices,
): Record<'ours' | 'least', number> {
  const tokens = new Map<IContent, number>();
  const stale = new Set<IContent>();
  const results: IContent[] = [];
  let history: IContent[] = [];
  let intact = 0;
  const costs = { ours: 0, least: 0 };
  const sum = (entries: readonly IContent[]): number =>
    entries.reduce((all, entry) => all + (tokens.get(entry) ?? 0), 0);
  for (const call of calls) {
    // Only what was sent becomes stale.
    const sent = results.length;
    for (const pick of call.stale) if (sent > 0) stale.add(results[pick % sent]!);
    const [result, answer] = [humanText('a result'), aiContent([{ type: 'text', text: 'on' }])];
    const needed = sum(results.filter((entry) => !stale.has(entry)));
    tokens.set(result, call.tokens);
    results.push(result);
    history.push(result);
    const removals = history.flatMap((entry, at) => (stale.has(entry) ? [at] : []));
    const from = worthwhileFrom({
      result: { removals, replacements: new Map() },
      history,
      sentEntries: intact,
      prices,
      countedTokens: (entry) => tokens.get(entry) ?? 0,
    });
    const firstRemoved = removals.find((at) => at >= from) ?? Infinity;
    const read = sum(history.slice(0, Math.min(intact, firstRemoved)));
    history = history.filter((entry, at) => at < from || !stale.has(entry));
    costs.ours += prices.read * read + prices.write * (sum(history) - read);
    costs.least += prices.read * needed + prices.write * call.tokens;
    intact = history.length;
    history.push(answer);
  }
  return costs;
}

describe('worthwhileFrom, with nothing left', () => {
  it('lands wherever the same edit lands that leaves a part of its entries', () => {
    const anEntry = fc.record({
      tokens: fc.nat({ max: 3_000 }),
      // An edit may leave more than there was.
      left: fc.option(fc.nat({ max: 120 })),
      isGone: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(anEntry, { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 12 }),
        fc.nat({ max: 4_000 }),
        (entries, sentEntries, minCachedTokens) => {
          const history = entries.map((_, at) => humanText(`entry ${at} ${'word '.repeat(50)}`));
          const places = (isWanted: (entry: (typeof entries)[number]) => boolean): number[] =>
            entries.flatMap((entry, at) => (isWanted(entry) ? [at] : []));
          const replaced = places(({ left, isGone }) => !isGone && left !== null);
          const replacements = new Map(
            replaced.map((at) => [at, humanText('word '.repeat(entries[at]?.left ?? 0))]),
          );
          const removals = places(({ isGone }) => isGone);
          const terms = { sentEntries, minCachedTokens, prices: { read: 0.1, write: 1.25 } };
          const countedTokens = (entry: IContent): number | undefined =>
            entries[history.indexOf(entry)]?.tokens;
          const found = { ...terms, history, countedTokens };
          const all = [...removals, ...replaced].sort((a, b) => a - b);
          const most = { removals: all, replacements: new Map<number, IContent>() };
          if (worthwhileFrom({ ...found, result: most }) < Infinity) return;
          expect(worthwhileFrom({ ...found, result: { removals, replacements } })).toBe(Infinity);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});

describe('worthwhileFrom, call by call', () => {
  const picks = fc.array(fc.nat(1_000), { maxLength: 3 });
  const any = fc.array(fc.record({ tokens: fc.nat(5_000), stale: picks }), { maxLength: 150 });
  /** Much that stays, behind a little that becomes stale with every call. */
  const alive = fc
    .tuple(fc.integer({ min: 1_000, max: 200_000 }), fc.integer({ min: 5, max: 70 }))
    .map(([much, count]): PlayedCall[] => [
      ...Array.from({ length: count }, () => ({ tokens: 10, stale: [] })),
      { tokens: much, stale: [] },
      ...Array.from({ length: count }, (_, at) => ({ tokens: 1, stale: [at] })),
    ]);
  /** Much that becomes stale soon, and little that stays. */
  const dead = fc
    .tuple(fc.integer({ min: 1_000, max: 200_000 }), fc.integer({ min: 5, max: 140 }))
    .map(([much, count]): PlayedCall[] => [
      { tokens: much, stale: [] },
      ...Array.from({ length: count }, () => ({ tokens: 10, stale: [0] })),
    ]);

  it.each([
    { read: 0.1, write: 1.25 },
    { read: 0.05, write: 1.25 },
    { read: 0.025, write: 1.25 },
  ])('costs at most 1 + max(β, 1/β) times what any schedule does, at %j', (prices) => {
    // What the documents call β: stale tokens needed per token behind.
    const beta = Math.sqrt(11.5 * (prices.write / prices.read - 1)) / 40;
    let most = 0;
    fc.assert(
      fc.property(fc.oneof(any, alive, dead), (calls) => {
        const { ours, least } = costsOf(calls, prices);
        most = Math.max(most, least === 0 ? 1 : ours / least);
        expect(ours).toBeLessThanOrEqual((1 + Math.max(beta, 1 / beta)) * least + 1e-6);
      }),
      { numRuns: runs(2_000, 60) },
    );
    expect(most).toBeGreaterThan(1.2);
  });
});

describe('worthwhileFrom, of calls in parallel', () => {
  // The second read is superseded and is removed with its call; the first result is removed for good.
  const history = historyOf('h a:r1,r2 t:r1 t:r2 a:r3 t:r3');
  const withoutSecondCall = {
    ...history[1]!,
    blocks: history[1]!.blocks.filter((block) => block.type !== 'tool_call' || block.id !== 'r2'),
  };
  const metadata = { readWritePairsPruned: 1, fileDeduplicationsPruned: 0, recencyPruned: 0 };
  const dropped = (entry: number, block: number): readonly number[] => {
    return [entry, block, ACTION.drop, 0, -1, -1];
  };
  const rows = Int32Array.of(...dropped(1, 1), ...dropped(2, 0), ...dropped(3, 0));
  const edit = {
    result: { removals: [2, 3], replacements: new Map([[1, withoutSecondCall]]), metadata, rows },
    history,
    sentEntries: 5,
    prices: { read: 0.1, write: 1.25 },
    countedTokens: (entry: IContent): number => (entry === history[3] ? 10_000 : 100),
  };

  it('chooses no place between a removed call and its result, which would have to stay', () => {
    expect(worthwhileFrom(edit)).toBe(1);
    expect(belowStepFrom(edit, 5_000, { read: 0.2, write: 2.5 })).toBe(1);
  });
});

describe('worthwhileFrom, for short cached prefixes', () => {
  it('counts the prefix as written anew where it is too short to be cached', () => {
    // 1,000 tokens for 40 calls at 0.1 are 4,000, and 3,000 behind them cost 3,450; with the 1,000 before, 4,600.
    const at = (minCachedTokens: number): number => from([1], 5, 1_000, undefined, minCachedTokens);
    expect([at(0), at(1_000), at(1_001)]).toEqual([1, 1, Infinity]);
    // What stood in front of a removed end is written anew as well, but not if nothing that was sent changes.
    const end = (minCachedTokens: number): number =>
      from([4], 5, 1_000, undefined, minCachedTokens);
    expect([end(4_000), end(4_001)]).toEqual([4, Infinity]);
    expect(from([5], 5, 1_000, undefined, 4_001)).toBe(5);
  });
});

describe('spendable', () => {
  const prices = { read: 0.1, write: 1 };

  it('is a twentieth of the costs so far if no edit has landed', () => {
    const [sent, unedited] = [new TokenTally(), new TokenTally()];
    for (const tally of [sent, unedited]) tally.add(1_000, true, Infinity);
    // 1,000 written, and 1,000 read with 100 more written.
    expect(spendable(sent, 1_100, unedited, 1_100, prices)).toBeCloseTo(0.05 * 1_200);
  });

  it('grows by what edits have saved, and falls by what they have cost', () => {
    const [sent, unedited] = [new TokenTally(), new TokenTally()];
    for (const tally of [sent, unedited]) tally.add(1_000, true, Infinity);
    // Half is removed, and of the other half 100 were read.
    sent.add(500, true, 100);
    unedited.add(1_000, true, Infinity);
    const paid = 1_000 + (10 + 400) + 50;
    expect(spendable(sent, 500, unedited, 1_000, prices)).toBeCloseTo(1.05 * 1_200 - paid);
  });

  it('counts requests above a step of the price, and one that gets there, at the prices above it', () => {
    const above = { read: 1, write: 10, tokens: 1_000 };
    const terms = { ...prices, above };
    const [sent, unedited] = [new TokenTally(), new TokenTally()];
    sent.add(1_000, true, Infinity, { above });
    unedited.add(1_200, true, Infinity, { above });
    // 1,000 written below the step, and 1,000 read with 100 more written above it; without edits, both above it.
    const [paid, full] = [1_000 + (1_000 + 1_000), 12_000 + (1_200 + 1_000)];
    const left = spendable(sent, 1_100, unedited, 1_300, terms);
    expect(left).toBeCloseTo(1.05 * full - paid);
    // Another process continues with the same memory.
    const [again, uneditedAgain] = [new TokenTally(sent.memory), new TokenTally(unedited.memory)];
    expect(spendable(again, 1_100, uneditedAgain, 1_300, terms)).toBe(left);
  });

  it('delays an edit that costs more', () => {
    // 1.15 more for each of 3,000 tokens that stay; the removal saves 200 at once.
    expect(from([0, 1], 5, 1_000, 3_251)).toBe(0);
    expect(from([0, 1], 5, 1_000, 3_249)).toBe(Infinity);
  });
});

describe('belowStepFrom', () => {
  const SENT = Array.from({ length: 20 }, (_, at) => humanText(`entry ${at}`));
  const above = { read: 0.2, write: 2.5 };
  /** Removes these of 20 entries of 1,000 tokens each, all of them sent, with that many tokens below the step. */
  const step = (removals: readonly number[], tokensBelowStep: number): number => {
    const metadata = { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 };
    const edit = {
      result: { removals, replacements: new Map(), metadata },
      history: SENT,
      sentEntries: 20,
      prices: { read: 0.1, write: 1.25 },
      countedTokens: () => 1_000,
    };
    return belowStepFrom(edit, tokensBelowStep, above);
  };

  it('takes edits that get below the step and pay, and no more of them than pays', () => {
    // Two thousand tokens that stay are written anew for 1.15 each; a call above the step costs 2,000 more.
    expect(step([17, 18], 18_000)).toBe(17);
    expect(step([0, 17, 18], 18_000)).toBe(17);
  });

  it('takes nothing that does not get there, and nothing that costs more than the calls below it save', () => {
    expect(step([17, 18], 17_999)).toBe(Infinity);
    expect(step([0, 1], 18_000)).toBe(Infinity);
  });
});
