// The token counts of a history: in whatever order things happen, the total is that of a recount.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it, vi } from 'vitest';

import { TokenLedger } from '../../../src/main/tokens/token-ledger.js';
import type { CountEntries } from '../../../src/main/tokens/token-ledger.js';
import { aiContent, humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';
import { fixedEntryTokens } from '../../../src/shared/tokens/content-text.js';
import {
  estimateEntryTextTokens,
  estimateEntryTokens,
} from '../../../src/shared/tokens/estimate.js';
import { runs } from '../../support/scale.js';

/** The count of an entry is the number in its text; the estimate differs. */
function entry(tokens: number): IContent {
  return humanText(`${tokens}`);
}

function countOf({ blocks: [block] }: IContent): number {
  return block?.type === 'text' ? Number(block.text) : NaN;
}

const countAll: CountEntries = (contents) => Promise.resolve(contents.map(countOf));
const ignore = (): void => undefined;

interface Batch {
  readonly contents: readonly IContent[];
  readonly answer: () => void;
  readonly settle: (counts: readonly number[]) => void;
  readonly fail: (error: unknown) => void;
}

/** A counter that answers when the test says so, in any order. */
function slowCounter(): { readonly count: CountEntries; readonly batches: Batch[] } {
  const batches: Batch[] = [];
  const count: CountEntries = (contents) =>
    new Promise((resolve, reject) => {
      const answer = (): void => {
        resolve(contents.map(countOf));
      };
      batches.push({ contents, answer, settle: resolve, fail: reject });
    });
  return { count, batches };
}

/** Resolves to whether a promise has settled by the next turn of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const outcome = promise.then(ignore, ignore);
  return (await Promise.race([outcome, nextImmediate(pending)])) !== pending;
}

describe('TokenLedger', () => {
  it('counts nothing once it is closed, except for callers that wait', async () => {
    const count = vi.fn(countAll);
    const ledger = new TokenLedger(count, ignore);
    ledger.add([entry(5)]);
    ledger.close();
    ledger.add([entry(7)]);
    await nextImmediate();
    await nextImmediate();
    expect(count).not.toHaveBeenCalled();
    await ledger.settle();
    expect(ledger.total).toBe(12);
  });

  it('holds estimates until counts arrive, then the counts', async () => {
    const [a, b] = [entry(100), entry(2_000)];
    const ledger = new TokenLedger(countAll, ignore);
    ledger.add([a, b]);
    const fixed = fixedEntryTokens(a) + fixedEntryTokens(b);
    const texts = estimateEntryTextTokens(a) + estimateEntryTextTokens(b);
    expect(ledger.total).toBe(Math.ceil(texts) + fixed);
    await ledger.settle();
    expect(ledger.total).toBe(2_100);
  });

  it('counts the additions of one macrotask in one batch, and each entry once', async () => {
    const { count, batches } = slowCounter();
    const ledger = new TokenLedger(count, ignore);
    const [a, b, c] = [entry(1), entry(2), entry(3)];
    ledger.add([a]);
    ledger.add([b, a]);
    expect(batches).toHaveLength(0);
    await nextImmediate();
    ledger.add([c, b]);
    await nextImmediate();
    expect(batches.map(({ contents }) => contents)).toEqual([[a, b], [c]]);
    for (const { answer } of batches) answer();
    await ledger.settle();
    ledger.remove([a]);
    ledger.add([a]);
    await ledger.settle();
    expect(batches).toHaveLength(2);
    expect(ledger.total).toBe(1 + 2 + 1 + 3 + 2);
  });

  it('adds up every occurrence of an entry that occurs twice', async () => {
    const twice = entry(50);
    const ledger = new TokenLedger(countAll, ignore);
    ledger.add([twice, twice]);
    await ledger.settle();
    expect(ledger.total).toBe(100);
    ledger.remove([twice]);
    expect(ledger.total).toBe(50);
    ledger.remove([twice, twice]);
    expect(ledger.total).toBe(0);
  });

  it('ignores a count for a removed entry', async () => {
    const { count, batches } = slowCounter();
    const ledger = new TokenLedger(count, ignore);
    const [gone, back] = [entry(10), entry(20)];
    ledger.add([gone, back]);
    await nextImmediate();
    ledger.clear();
    ledger.add([back]);
    batches[0]?.answer();
    await nextImmediate();
    expect(ledger.total).toBe(20);
    expect(ledger.recount()).toBe(20);
  });

  it('reports each new total', async () => {
    const totals: number[] = [];
    const ledger = new TokenLedger(countAll, (total) => totals.push(total));
    ledger.add([entry(10)]);
    await ledger.settle();
    ledger.add([entry(20)]);
    await ledger.settle();
    expect(totals).toEqual([10, 30]);
  });

  it('passes on the model named last', async () => {
    const models: (string | undefined)[] = [];
    const ledger = new TokenLedger((contents, model) => {
      models.push(model);
      return countAll(contents, model);
    }, ignore);
    ledger.add([entry(1)]);
    await ledger.settle();
    ledger.add([entry(2)], 'large');
    await ledger.settle();
    ledger.add([entry(3)]);
    await ledger.settle();
    expect(models).toEqual([undefined, 'large', 'large']);
  });

  it.each([
    ['NaN', [NaN]],
    ['a negative number', [-5]],
    ['infinity', [Infinity]],
    ['a number in a text', ['7']],
    ['nothing', undefined],
    ['too few', []],
    ['too many', [1, 2]],
  ])('treats %s as a failed count, and keeps the estimate', async (_, counts) => {
    const words = humanText('word '.repeat(1_000));
    const ledger = new TokenLedger(() => Promise.resolve(counts as number[]), ignore);
    ledger.add([words]);
    await expect(ledger.settle()).rejects.toMatchObject({ code: 'TOKEN_COUNT_FAILED' });
    expect(ledger.total).toBe(estimateEntryTokens(words));
    expect(ledger.isCounted).toBe(false);
    await expect(ledger.countEach([humanText('x')])).rejects.toMatchObject({
      code: 'TOKEN_COUNT_FAILED',
    });
  });

  it('gives up on a counter that hangs after five minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const ledger = new TokenLedger(() => new Promise(() => undefined), ignore);
      ledger.add([entry(1)]);
      const settled = expect(ledger.settle()).rejects.toMatchObject({ code: 'TOKEN_COUNT_FAILED' });
      await vi.advanceTimersByTimeAsync(300_000);
      await settled;
    } finally {
      vi.useRealTimers();
    }
  });

  it('rounds fractions up', async () => {
    const ledger = new TokenLedger(() => Promise.resolve([1.2, 2]), ignore);
    ledger.add([entry(1), entry(2)]);
    await ledger.settle();
    expect(ledger.total).toBe(4);
  });

  describe('the estimate', () => {
    /** Counts some entries, then adds others: the error of the total while these are uncounted. */
    async function errorAfter(
      count: CountEntries,
      counted: readonly IContent[],
      others: readonly IContent[],
    ): Promise<number> {
      const ledger = new TokenLedger(count, ignore);
      ledger.add(counted);
      await ledger.settle();
      const before = ledger.total;
      ledger.add(others);
      const estimated = ledger.total - before;
      await ledger.settle();
      return Math.abs(estimated / (ledger.total - before) - 1);
    }

    const countExactly: CountEntries = (contents) =>
      Promise.resolve(contents.map((content) => countEntryTokens(content, countTokens)));
    const chinese = (from: number, length: number): IContent[] =>
      Array.from({ length }, (_, at) =>
        humanText(
          `第${from + at}步：请先阅读配置文件，然后修改测试用例，确认数据库连接正常，最后运行全部测试并报告结果。` +
            '如果发现错误，请说明原因，不要删除任何日志。'.repeat(1 + ((from + at) % 3)),
        ),
      );

    it('is a few percent off on a Chinese history before any of it is counted, and less after', async () => {
      expect(await errorAfter(countExactly, [], chinese(0, 20))).toBeLessThan(0.1);
      expect(await errorAfter(countExactly, chinese(0, 20), chinese(20, 20))).toBeLessThan(0.05);
    });

    it('improves for entries added before, as soon as other counts arrive', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      const text = 'x'.repeat(1_000);
      ledger.add([humanText(text)]);
      await nextImmediate();
      ledger.add([humanText(text)]);
      await nextImmediate();
      const before = ledger.total;
      batches.pop()?.settle([1_003]);
      await nextImmediate();
      expect(ledger.total - 1_003).toBeGreaterThan((3 * before) / 2);
      expect(ledger.total - 1_003).toBeLessThan(1_003);
    });

    it.each([
      ['one character', 100_000, 1_000],
      ['eight characters', 100, 125],
    ])('assumes no more or less than %s per token', async (_, tokens, expected) => {
      const ledger = new TokenLedger(() => Promise.resolve([tokens]), ignore);
      const long = humanText('x'.repeat(10_000));
      ledger.add([long]);
      await ledger.settle();
      ledger.remove([long]);
      const next = humanText('x'.repeat(1_000));
      ledger.add([next]);
      expect(ledger.total - fixedEntryTokens(next)).toBeCloseTo(expected, -1);
    });

    it('learns nothing from entries without text', async () => {
      const media = aiContent([
        { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64' },
      ]);
      const ledger = new TokenLedger(() => Promise.resolve([1_605]), ignore);
      ledger.add([media]);
      await ledger.settle();
      const before = ledger.total;
      const next = humanText('x'.repeat(1_000));
      ledger.add([next]);
      expect(ledger.total - before).toBe(estimateEntryTokens(next));
    });

    it('keeps what it learned when the history is emptied', async () => {
      const ledger = new TokenLedger(countExactly, ignore);
      ledger.add(chinese(0, 20));
      await ledger.settle();
      ledger.clear();
      const next = chinese(20, 20);
      ledger.add(next);
      const estimated = ledger.total;
      await ledger.settle();
      expect(Math.abs(estimated / ledger.total - 1)).toBeLessThan(0.05);
    });
  });

  it('counts only the part of an entry that is not weighed', async () => {
    const { count, batches } = slowCounter();
    const ledger = new TokenLedger(count, ignore);
    const [whole, part] = [humanText('100'), entry(20)];
    ledger.weighPart(whole, 50, part);
    expect(ledger.countedTokens(whole)).toBeUndefined();
    ledger.add([entry(7), whole]);
    const settled = ledger.settle();
    expect(batches[0]?.contents).toEqual([entry(7), part]);
    batches[0]?.settle([7, countEntryTokens(part, ({ length }) => length)]);
    await settled;
    // The frame of the part is not counted again: the entry has one.
    expect(ledger.countedTokens(whole)).toBe(50 + '20'.length);
    expect(ledger.total).toBe(7 + 50 + '20'.length);
    expect(ledger.tokensOfWhole(whole)).toBeUndefined();
  });

  it('knows the count of a removed entry', async () => {
    const ledger = new TokenLedger(countAll, ignore);
    const gone = entry(12);
    ledger.add([gone, gone]);
    await ledger.settle();
    ledger.remove([gone, gone]);
    expect([ledger.total, ledger.countedTokens(gone)]).toEqual([0, 12]);
  });

  it('knows whether everything is counted', async () => {
    const { count, batches } = slowCounter();
    const ledger = new TokenLedger(count, ignore);
    const content = entry(5);
    expect(ledger.isCounted).toBe(true);
    ledger.add([content, content]);
    expect(ledger.isCounted).toBe(false);
    ledger.remove([content]);
    expect(ledger.isCounted).toBe(false);
    ledger.remove([content]);
    expect(ledger.isCounted).toBe(true);
    ledger.add([content]);
    await nextImmediate();
    batches[0]?.answer();
    await ledger.settle();
    expect(ledger.isCounted).toBe(true);
    ledger.add([entry(6)]);
    ledger.clear();
    expect(ledger.isCounted).toBe(true);
  });

  describe('settle', () => {
    it('resolves at once when nothing is left to count', async () => {
      const ledger = new TokenLedger(countAll, ignore);
      expect(await isSettled(ledger.settle())).toBe(true);
    });

    it('waits for every batch, in whatever order they end', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      for (const tokens of [1, 2, 3]) {
        ledger.add([entry(tokens)]);
        await nextImmediate();
      }
      const settled = ledger.settle();
      for (const at of [2, 0]) batches[at]?.answer();
      expect(await isSettled(settled)).toBe(false);
      batches[1]?.answer();
      await settled;
      expect(ledger.total).toBe(6);
    });

    it('waits for later additions as well', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      ledger.add([entry(1)]);
      const settled = ledger.settle();
      ledger.add([entry(2)]);
      await nextImmediate();
      batches[0]?.answer();
      expect(await isSettled(settled)).toBe(false);
      batches[1]?.answer();
      await settled;
      expect(ledger.total).toBe(3);
    });

    it('rejects with a code and the cause when counting fails, and keeps the estimates', async () => {
      const cause = new Error('no encoding');
      const ledger = new TokenLedger(() => Promise.reject(cause), ignore);
      const content = entry(10_000);
      ledger.add([content]);
      await expect(ledger.settle()).rejects.toMatchObject({ code: 'TOKEN_COUNT_FAILED', cause });
      expect(ledger.total).toBe(estimateEntryTokens(content));
    });

    it('reports to all waiting callers that counting failed', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      ledger.add([entry(1)]);
      const outcomes = Promise.allSettled([ledger.settle(), ledger.settle()]);
      batches[0]?.fail('out of luck');
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(batches).toHaveLength(1);
    });

    it('counts again after a failure, and forgets it when that succeeds', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      ledger.add([entry(7)]);
      await nextImmediate();
      batches[0]?.fail(new Error('once'));
      await nextImmediate();
      expect(batches).toHaveLength(1);
      const settled = ledger.settle();
      batches[1]?.answer();
      await settled;
      expect(ledger.total).toBe(7);
      await ledger.settle();
    });

    it('reports no failure once the failed entries were removed', async () => {
      const { count, batches } = slowCounter();
      const ledger = new TokenLedger(count, ignore);
      const content = entry(7);
      ledger.add([content]);
      await nextImmediate();
      batches[0]?.fail(new Error('once'));
      await nextImmediate();
      ledger.remove([content]);
      await ledger.settle();
      ledger.add([content]);
      await nextImmediate();
      batches[1]?.fail(new Error('once'));
      await nextImmediate();
      ledger.clear();
      await ledger.settle();
      expect(ledger.total).toBe(0);
    });
  });

  describe('countEach', () => {
    it('uses known counts and counts the rest, each entry once', async () => {
      const asked: IContent[] = [];
      const ledger = new TokenLedger((contents, model) => {
        asked.push(...contents);
        return countAll(contents, model);
      }, ignore);
      const [held, fresh, later] = [entry(1), entry(2), entry(3)];
      ledger.add([held]);
      await ledger.settle();
      expect(await ledger.countEach([fresh, held, later])).toEqual([2, 1, 3]);
      expect(await ledger.countEach([fresh])).toEqual([2]);
      ledger.add([fresh, later]);
      expect(ledger.total).toBe(6);
      await ledger.settle();
      expect(asked).toEqual([held, fresh, later]);
    });

    it('rejects as the counter does', async () => {
      const ledger = new TokenLedger(() => Promise.reject(new Error('no')), ignore);
      await expect(ledger.countEach([entry(1)])).rejects.toThrow('no');
    });
  });

  it('has the total of a full recount after anything, in any order of arrival', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), which: fc.array(fc.nat(9)) }),
      fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }),
      fc.record({ kind: fc.constant('swap' as const), at: fc.nat(), to: fc.nat(9) }),
      fc.record({ kind: fc.constant('clear' as const) }),
      fc.record({ kind: fc.constant('turn' as const) }),
      fc.record({ kind: fc.constant('answer' as const), at: fc.nat() }),
      fc.record({ kind: fc.constant('fail' as const), at: fc.nat() }),
      fc.record({ kind: fc.constant('weigh' as const), which: fc.nat(9) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const known = Array.from({ length: 10 }, (_, at) => entry(at * 100));
        const { count, batches } = slowCounter();
        const ledger = new TokenLedger(count, ignore);
        let held: IContent[] = [];
        const takeBatch = (at: number): Batch | undefined =>
          batches.splice(batches.length === 0 ? 0 : at % batches.length, 1)[0];
        const takeHeld = (at: number): IContent[] => {
          const taken = held.splice(held.length === 0 ? 0 : at % held.length, 1);
          return taken;
        };
        const pick = (at: number): IContent[] => known.slice(at, at + 1);
        for (const made of steps) {
          if (made.kind === 'add') {
            const contents = made.which.flatMap(pick);
            held.push(...contents);
            ledger.add(contents);
          } else if (made.kind === 'remove') {
            ledger.remove(takeHeld(made.at));
          } else if (made.kind === 'swap') {
            const gone = takeHeld(made.at);
            const put = gone.length === 0 ? [] : pick(made.to);
            held.push(...put);
            ledger.add(put);
            ledger.remove(gone);
          } else if (made.kind === 'clear') {
            held = [];
            ledger.clear();
          } else if (made.kind === 'turn') {
            await nextImmediate();
          } else if (made.kind === 'weigh') {
            void ledger.countEach(pick(made.which)).catch(ignore);
          } else if (made.kind === 'answer') {
            takeBatch(made.at)?.answer();
          } else {
            takeBatch(made.at)?.fail(new Error('unlucky'));
          }
          const { total, isCounted } = ledger;
          expect(ledger.recount()).toBe(total);
          expect(ledger.isCounted).toBe(isCounted);
        }
        // The last failure has happened before the end begins.
        await nextImmediate();
        const settled = ledger.settle();
        do {
          for (const { answer } of batches.splice(0)) answer();
        } while (!(await isSettled(settled)));
        await settled;
        expect(ledger.total).toBe(held.map(countOf).reduce((sum, tokens) => sum + tokens, 0));
      }),
      { numRuns: runs(300) },
    );
  });
});
